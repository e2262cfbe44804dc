import { ancestors } from '../../vfs/index.ts'

/** The changes at a path and below it. */
interface PathLock {
  /** Resolves after the last change of the path itself. Never rejects. */
  own: Promise<void>
  /** Resolves after all changes below the path. Never rejects. */
  below: Promise<void>
  /** Number of changes that use the lock. */
  users: number
}

const DONE = Promise.resolve()

/**
 * Runs changes of different paths concurrently. A change waits for those of the same path, of its ancestors and of its
 * descendants. So no file is created where a directory is being written.
 */
export class TreeMutex {
  readonly #locks = new Map<string, PathLock>()

  /**
   * Runs a change after the earlier ones that it has to wait for.
   * @param paths all paths of the change. They are queued together, so that no two changes deadlock.
   */
  run<T>(paths: readonly string[], change: () => Promise<T>): Promise<T> {
    const locks = paths.map((path) => this.#acquire(path))
    const above = [...new Set(paths.flatMap(ancestors))].map((path) => [path, this.#acquire(path)] as const)
    const earlier = [...locks.flatMap(({ own, below }) => [own, below]), ...above.map(([, { own }]) => own)]
    const running = Promise.all(earlier).then(change)
    const settled = running.then(ignore, ignore)
    for (const lock of locks) lock.own = settled
    for (const [, lock] of above) lock.below = Promise.all([lock.below, settled]).then(ignore)
    const releaseAll = () => {
      for (const path of [...paths, ...above.map(([path]) => path)]) this.#release(path)
    }
    void settled.then(releaseAll)
    return running
  }

  #acquire(path: string): PathLock {
    const lock = this.#locks.get(path) ?? { own: DONE, below: DONE, users: 0 }
    lock.users++
    this.#locks.set(path, lock)
    return lock
  }

  #release(path: string): void {
    const lock = this.#locks.get(path)
    if (lock !== undefined && --lock.users === 0) this.#locks.delete(path)
  }
}

function ignore(): void {}
