import type { ConfinedTree } from './confined-tree.ts'
import { FileLocks } from './file-locks.ts'
import { attemptAsync, type HostCall } from './host-errors.ts'
import type { ConfinedPath, LocateOptions } from './path-resolution.ts'

/** The locks of files in a tree, by their paths. Without a directory for locks, changes run at once. */
export class PathLocks {
  readonly #tree: ConfinedTree
  readonly #locks: FileLocks | undefined

  constructor(tree: ConfinedTree, directory: string | undefined) {
    this.#tree = tree
    this.#locks = directory === undefined ? undefined : new FileLocks(directory)
  }

  /** Runs a change while holding the locks of these paths. A path in a missing directory needs no lock. */
  hold(
    call: HostCall,
    paths: readonly string[],
    lookup: LocateOptions,
    signal: AbortSignal | undefined,
    change: () => void | Promise<void>,
  ): void | Promise<void> {
    const locks = this.#locks
    if (locks === undefined) return change()
    const keys = paths.flatMap(
      (path) => this.#tree.runIfPresent({ ...call, path }, lookup, (located) => locks.getKey(located)) ?? [],
    )
    return attemptAsync(call, () => locks.hold(keys, signal, change), signal)
  }

  /** Runs a step while holding the lock of a file, once the file passes the check. Without locks, runs the step alone. */
  holdChecked(
    located: ConfinedPath,
    signal: AbortSignal | undefined,
    check: (() => void | Promise<void>) | undefined,
    step: () => void,
  ): void | Promise<void> {
    const locks = this.#locks
    if (locks === undefined) return step()
    return locks.hold([locks.getKey(located)], signal, async () => {
      await check?.()
      step()
    })
  }
}
