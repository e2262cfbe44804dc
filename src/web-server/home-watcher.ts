import { type RunningFork, RunningForks } from '../boundary/index.ts'
import { BOUNDARY_VAULT } from '../config/index.ts'
import { isVfsError } from '../vfs/index.ts'
import { PendingMerges } from '../workspace/index.ts'
import { toJournalRow } from './journal-buckets.ts'
import { nameTree } from './methods/home-methods.ts'
import { ignoreMissing } from './trees/home-trees.ts'
import { isTrialName } from './trial-name.ts'
import { WebAuthors } from './web-author.ts'
import type { WebContext } from './web-context.ts'

/** Interval at which commits are noticed while a page is open. */
const POLL_MS = 25
/** Time after which it looks without a commit: commands that run and merges that wait are files beside the store. */
const MAX_LOOK_INTERVAL_MS = 500
/** A look may take this share of the time: a home with thousands of vaults is looked at less often. */
const MAX_SHARE = 0.2
/** Pause after a look, as a multiple of its duration. */
const PAUSE_PER_LOOK = 1 / MAX_SHARE - 1
/** Rows of a journal that an event has at most: the newest ones. */
const MAX_ROWS = 50

/**
 * Turns changes of the home into events, whichever program made them: rows of journals, forks, commands that run, and
 * what waits for a decision of the user. By itself it looks only while a page is open. The next look reports what
 * changed since the last one, of each journal `MAX_ROWS` at most.
 */
export class HomeWatcher implements Disposable {
  readonly #web: WebContext
  /** Reports whether a page is open. */
  readonly #isWatched: () => boolean
  /** By name of the vault: the last row of its journal that was seen. */
  readonly #lastRows = new Map<string, number>()
  #running = ''
  #waiting = ''
  #isFirst = true
  #changeCount = -1
  /** Time at which the last look ended, in milliseconds. */
  #lastLookAt = 0
  /** Time before which no other look starts. */
  #nextLookAt = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #currentLook: Promise<void> | undefined

  constructor(web: WebContext, isWatched: () => boolean) {
    this.#web = web
    this.#isWatched = isWatched
  }

  /** Reads the state that later ones are compared with, and starts to watch. */
  async start(): Promise<void> {
    await this.look()
    this.#schedule()
  }

  /** Looks for changes now. Calls at the same time share one look. */
  look(): Promise<void> {
    this.#currentLook ??= this.#look().finally(() => {
      this.#currentLook = undefined
    })
    return this.#currentLook
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(async () => {
      // The store may be busy for a moment; the next look finds the same.
      if (this.#isWatched()) await this.#lookIfDue().catch(() => {})
      this.#schedule()
    }, POLL_MS)
    this.#timer.unref()
  }

  async #lookIfDue(): Promise<void> {
    const startedAt = performance.now()
    if (startedAt < this.#nextLookAt) return
    const count = await this.#web.home.getChangeCount()
    if (count === this.#changeCount && startedAt - this.#lastLookAt < MAX_LOOK_INTERVAL_MS) return
    this.#changeCount = count
    await this.look()
    this.#lastLookAt = performance.now()
    this.#nextLookAt = this.#lastLookAt + (this.#lastLookAt - startedAt) * PAUSE_PER_LOOK
  }

  async #look(): Promise<void> {
    const { trees, events, home } = this.#web
    const names = (await trees.listVaults()).filter((name) => !isTrialName(name))
    const seenNames = new Set(this.#lastRows.keys())
    const deletedNames = [...seenNames].filter((name) => !names.includes(name))
    const hasOtherNames = deletedNames.length > 0 || names.some((name) => !seenNames.has(name))
    const running = JSON.stringify(RunningForks.of(this.#web.path).list().map(toRunningKey))
    for (const name of deletedNames) this.#lastRows.delete(name)
    for (const name of names) await this.#lookAtVault(name)
    const boundary = await home.info(BOUNDARY_VAULT).catch(ignoreMissing)
    const waiting = JSON.stringify([
      boundary?.changes ?? 0,
      new PendingMerges(this.#web.path).list().map(({ target, resolutions }) => [target, resolutions.size]),
    ])
    if (!this.#isFirst && (hasOtherNames || running !== this.#running)) events.add({ type: 'trees' })
    if (!this.#isFirst && waiting !== this.#waiting) events.add({ type: 'waiting' })
    this.#running = running
    this.#waiting = waiting
    this.#isFirst = false
  }

  async #lookAtVault(name: string): Promise<void> {
    try {
      const vault = await this.#web.home.vault(name)
      const seq = await vault.getLastRow()
      const since = this.#lastRows.get(name)
      this.#lastRows.set(name, seq)
      if (this.#isFirst || since === undefined || seq <= since) return
      const authors = await WebAuthors.read(vault)
      const rows = []
      for await (const row of vault.journal({ since, newestFirst: true })) {
        rows.push(toJournalRow(row, authors))
        if (rows.length === MAX_ROWS) break
      }
      const tree = await nameTree(this.#web, name)
      if (tree !== null) this.#web.events.add({ type: 'journal', tree, since, seq, rows: rows.reverse() })
    } catch (error) {
      // Deleted meanwhile: the next look notices it.
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}

function toRunningKey({ fork, since, ports = [] }: RunningFork): readonly unknown[] {
  return [fork, since, ports.map(({ port }) => port)]
}
