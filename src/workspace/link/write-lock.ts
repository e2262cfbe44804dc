import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makePrivateDirectory } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { tryLockFile } from './file-lock.ts'

/** Directories share this many locks, so that lock files of deleted directories do not accumulate. */
const LOCK_COUNT = 64n
/** No write takes this long; a longer one hangs. */
const TIMEOUT_MS = 5 * 60_000
const MAX_BACKOFF_MS = 100

/** Locks of homes in memory, which no other process can open. */
const heldInMemory = new Set<string>()

/**
 * Exclusive lock for writing forks of a home into a directory. It is a system lock on a file of the home, as SQLite
 * uses it. It ends with the process, and nothing inside the directory can imitate it.
 */
export class WriteLock implements Disposable {
  readonly #release: () => void

  private constructor(release: () => void) {
    this.#release = release
  }

  /**
   * Waits for other writers. Throws EUNAVAILABLE if they take longer than five minutes, and the signal's reason if it
   * aborts.
   */
  static async acquire(
    home: string | undefined,
    directory: string,
    signal?: AbortSignal,
  ): Promise<WriteLock> {
    // Read only after a failure: Node takes milliseconds to load its clock.
    let deadline: number | undefined
    for (;;) {
      signal?.throwIfAborted()
      const lock = WriteLock.tryAcquire(home, directory)
      if (lock !== undefined) return lock
      deadline ??= performance.now() + TIMEOUT_MS
      if (performance.now() > deadline) throw createLockTimeoutError(directory)
      await delay(Math.random() * MAX_BACKOFF_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** Returns undefined if another process, or another user of this one, holds the lock. */
  static tryAcquire(home: string | undefined, directory: string): WriteLock | undefined {
    const name = toLockName(directory)
    if (home !== undefined) return WriteLock.#tryAcquireFile(home, name)
    if (heldInMemory.has(name)) return undefined
    heldInMemory.add(name)
    return new WriteLock(() => heldInMemory.delete(name))
  }

  static #tryAcquireFile(home: string, name: string): WriteLock | undefined {
    const locks = join(home, 'applying')
    makePrivateDirectory(locks)
    const lock = tryLockFile(join(locks, name))
    return lock && new WriteLock(() => lock[Symbol.dispose]())
  }

  [Symbol.dispose](): void {
    this.#release()
  }
}

/**
 * Returns the lock's name, from the directory's identity rather than its path. Two directories with one lock merely
 * wait for each other.
 */
function toLockName(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true })
  return String((dev + ino) % LOCK_COUNT)
}

function createLockTimeoutError(directory: string): VfsError {
  const detail = `nothing was written to ${directory}: another command is writing its changes; try again when it has ended`
  return new VfsError('EUNAVAILABLE', directory, { op: 'apply', detail })
}
