import { ancestors } from '../../vfs/index.ts'

/** What is under way at a path, and below it. Both end without failing. */
interface PathLock {
  at: Promise<void>
  below: Promise<void>
  users: number
}

const DONE = Promise.resolve()

/**
 * Lets changes of different places run at once, and makes a change wait for those of the same path, of the
 * directories above and of what is below: no file can come to lie where a directory is being written to.
 */
export class TreeMutex {
  readonly #locks = new Map<string, PathLock>()

  /** @param paths all that the change touches; they are taken together, so that no two changes wait for each other. */
  run<T>(paths: readonly string[], change: () => Promise<T>): Promise<T> {
    const own = paths.map((path) => this.#acquire(path))
    const above = [...new Set(paths.flatMap(ancestors))].map((path) => [path, this.#acquire(path)] as const)
    const earlier = [...own.flatMap(({ at, below }) => [at, below]), ...above.map(([, { at }]) => at)]
    const turn = Promise.all(earlier).then(change)
    const over = turn.then(ignore, ignore)
    for (const place of own) place.at = over
    for (const [, place] of above) place.below = Promise.all([place.below, over]).then(ignore)
    const releaseAll = () => {
      for (const path of [...paths, ...above.map(([path]) => path)]) this.#release(path)
    }
    void over.then(releaseAll)
    return turn
  }

  #acquire(path: string): PathLock {
    const place = this.#locks.get(path) ?? { at: DONE, below: DONE, users: 0 }
    place.users++
    this.#locks.set(path, place)
    return place
  }

  #release(path: string): void {
    const place = this.#locks.get(path)
    if (place !== undefined && --place.users === 0) this.#locks.delete(path)
  }
}

function ignore(): void {}
