import { readFileIfPresent } from '../../machine/index.ts'

/** Every directory takes one watch of the system. */
const MAX_WATCHES = 20_000
/** Other programs of the user need watches too. */
const SHARE = 4

/** The watches of the system that a watcher may take, for all of its directories together. */
export class WatchBudget {
  #left: number

  constructor(limit: number = findLimit()) {
    this.#left = limit
  }

  /** Takes one watch; false if none is left. */
  take(): boolean {
    if (this.#left === 0) return false
    this.#left--
    return true
  }

  giveBack(): void {
    this.#left++
  }
}

/** Returns a quarter of what the system gives to a user. */
function findLimit(): number {
  const text = readFileIfPresent('/proc/sys/fs/inotify/max_user_watches')
  return text === undefined ? MAX_WATCHES : Math.min(MAX_WATCHES, Math.floor(Number(text) / SHARE))
}
