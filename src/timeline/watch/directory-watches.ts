import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  getDirectoryIdentity,
  toSettingsKey,
  UndoRules,
  type UndoSettings,
  type WatchAnswer,
  type WatchQuestion,
} from '../events/index.ts'
import { WatchBudget } from './watch-budget.ts'
import { WatchedDirectory } from './watched-directory.ts'
import type { WatchStatus } from './watcher-protocol.ts'

/** A directory that no hook asked about for this long is no longer watched. */
const IDLE_MS = 30 * 60_000
/** Directories that are watched at once. */
const MAX_DIRECTORIES = 16
/** Time until a directory that could not be watched is tried again. */
const RETRY_MS = 10 * 60_000

interface Watch {
  readonly watched: WatchedDirectory
  readonly settings: string
  readonly startedAt: number
  readonly timer: NodeJS.Timeout
}

/** The watched directories of a home. */
export class DirectoryWatches implements Disposable {
  readonly #home: string
  readonly #budget: WatchBudget
  /** By directory, the one that was asked about last at the end. */
  readonly #watches = new Map<string, Watch>()

  /** @param home the directory of the home, which is not recorded. */
  constructor(home: string, budget: WatchBudget = new WatchBudget()) {
    this.#home = home
    this.#budget = budget
  }

  /** Answers a question. The first one about a directory begins to watch it. */
  async ask({ directory, identity, settings, mark }: WatchQuestion): Promise<WatchAnswer> {
    if (getDirectoryIdentity(directory) !== identity) return { isUnchanged: false }
    const watched = this.#find(directory, settings)
    // A turn of the loop reads every event that happened before it. This one may be in the middle of its reads.
    await nextTurn()
    await nextTurn()
    const now = watched.mark
    return now === undefined ? { isUnchanged: false } : { mark: now, isUnchanged: now === mark }
  }

  /** Lists the directories, the one that was asked about last at the end. */
  list(): WatchStatus[] {
    return [...this.#watches].map(([directory, { watched }]) => ({ directory, state: getState(watched) }))
  }

  [Symbol.dispose](): void {
    for (const directory of this.#watches.keys()) this.#end(directory)
  }

  #find(directory: string, settings: UndoSettings): WatchedDirectory {
    const known = this.#watches.get(directory)
    const key = toSettingsKey(settings)
    if (known !== undefined && known.settings === key && isKept(known)) {
      known.timer.refresh()
      this.#watches.delete(directory)
      this.#watches.set(directory, known)
      return known.watched
    }
    this.#end(directory)
    const watched = WatchedDirectory.start(
      directory,
      new UndoRules(directory, settings, [this.#home]),
      this.#budget,
    )
    const timer = setTimeout(() => this.#end(directory), IDLE_MS).unref()
    this.#watches.set(directory, { watched, settings: key, startedAt: performance.now(), timer })
    const [oldest = directory] = this.#watches.keys()
    if (this.#watches.size > MAX_DIRECTORIES) this.#end(oldest)
    return watched
  }

  #end(directory: string): void {
    const found = this.#watches.get(directory)
    if (found === undefined) return
    this.#watches.delete(directory)
    clearTimeout(found.timer)
    found.watched[Symbol.dispose]()
  }
}

function getState(watched: WatchedDirectory): WatchStatus['state'] {
  if (watched.hasFailed) return 'failed'
  return watched.mark === undefined ? 'starting' : 'watched'
}

/** A watch that failed stays for a while, so that not every hook tries it again. */
function isKept({ watched, startedAt }: Watch): boolean {
  return watched.hasFailed ? performance.now() - startedAt < RETRY_MS : watched.isUsable
}
