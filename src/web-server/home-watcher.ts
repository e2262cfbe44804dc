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
/** Time after which it looks without a commit, because commands that run are no part of the store. */
const MAX_LOOK_INTERVAL_MS = 500
/** A look may take this share of the time: a home with thousands of vaults is looked at less often. */
const MAX_SHARE = 0.2
/** Rows that an event has at most. */
const MAX_ROWS = 50

/**
 * Turns changes of the home into events, whichever program made them: rows of journals, forks, commands that run, and
 * what waits. It compares with what it saw last, so it misses nothing while no page is open.
 */
export class HomeWatcher implements Disposable {
  readonly #web: WebContext
  /** Reports whether a page is open. */
  readonly #isWatched: () => boolean
  readonly #rows = new Map<string, number>()
  #running = ''
  #waiting = ''
  #isFirst = true
  #changeCount = -1
  /** Times of the last look, in milliseconds: its end, and the earliest begin of the next one. */
  #lookedAt = 0
  #notBefore = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #poll: Promise<void> | undefined

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
    this.#poll ??= this.#look().finally(() => {
      this.#poll = undefined
    })
    return this.#poll
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
    if (startedAt < this.#notBefore) return
    const count = await this.#web.home.getChangeCount()
    if (count === this.#changeCount && startedAt - this.#lookedAt < MAX_LOOK_INTERVAL_MS) return
    this.#changeCount = count
    await this.look()
    this.#lookedAt = performance.now()
    this.#notBefore = this.#lookedAt + (this.#lookedAt - startedAt) * (1 / MAX_SHARE - 1)
  }

  async #look(): Promise<void> {
    const { trees, events, home } = this.#web
    const names = (await trees.listVaults()).filter((name) => !isTrialName(name))
    const seenNames = new Set(this.#rows.keys())
    const deletedNames = [...seenNames].filter((name) => !names.includes(name))
    const hasOtherNames = deletedNames.length > 0 || names.some((name) => !seenNames.has(name))
    const running = JSON.stringify(RunningForks.of(this.#web.path).list().map(toRunningKey))
    for (const name of deletedNames) this.#rows.delete(name)
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
      const since = this.#rows.get(name)
      this.#rows.set(name, seq)
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
