import { type CallContext, isVfsError, VfsError } from '../../vfs/index.ts'
import { compareTrees, isSameTree, type TreeChange } from './compare-trees.ts'
import { openOrigin, TemporaryForks } from './fork-origin.ts'
import { isRefreshedIndex } from './git-index.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import type { LinkHome } from './link-home.ts'
import { getMergeStateNames, type MergeStateNames, readRecord, writeRecord } from './link-record.ts'
import type { EntryMergeOptions } from './merge-entries.ts'
import { type ForkTrees, performForkMerge, planForkMerge } from './merge-forks.ts'
import { WriteLock } from './write-lock.ts'

/** A fork, and the vault that mirrors its base. */
export interface MergedFork {
  readonly name: string
  readonly mirror: string
}

type Provenance = Pick<CallContext, 'caller' | 'trace'>

/** Resolution of conflicts in a merge of forks, and its caller. */
export interface ForkMergeOptions extends Provenance {
  /** `both` writes both versions between markers. */
  readonly onConflict?: EntryMergeOptions['onConflict']
  /** Resolutions of conflicts, and a listener for those of texts. */
  readonly conflicts?: Pick<EntryMergeOptions, 'resolutions' | 'onTextConflict'> | undefined
  /** Changes nothing, and returns what would change. */
  readonly isTrial?: boolean
}

/** Merges forks of one directory into one another, and undoes that. */
export class ForkMerge {
  readonly #home: LinkHome
  readonly #directory: string

  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.#directory = directory
  }

  /**
   * Merges a fork into another one, and keeps the states before and after for an undo. Returns the changes of the other
   * one. Throws EINVAL for a fork into itself, and fails in a conflict unless the options resolve it.
   */
  async merge(
    source: MergedFork,
    target: MergedFork,
    { onConflict = 'fail', conflicts, isTrial = false, ...provenance }: ForkMergeOptions,
  ): Promise<TreeChange[]> {
    if (source.name === target.name)
      throw new VfsError('EINVAL', source.name, {
        op: 'merge',
        detail: 'a fork cannot be merged into itself',
      })
    using _lock = await this.#acquireLock()
    await using temporary = new TemporaryForks(this.#home)
    const origin = await openOrigin(this.#home, source, target, temporary)
    const [trees, into] = [await this.#openTrees(source), await this.#openTrees(target, provenance)]
    const from = origin === undefined ? trees : { ...trees, mirror: origin }
    const names = { ours: target.name, theirs: source.name }
    const plan = planForkMerge(this.#directory, from, into, { names, onConflict, ...conflicts })
    if (isTrial || plan.written.length === 0) return [...plan.written]
    await this.#deleteStates(target)
    await this.#keepState(target, 'before')
    await performForkMerge(into, plan)
    await this.#keepState(target, 'after')
    return [...plan.written]
  }

  /** Undoes the last merge into a fork. ENOENT if there is none, ECONFLICT if the fork was changed or applied since. */
  async undo(target: MergedFork, provenance: Provenance): Promise<TreeChange[]> {
    using _lock = await this.#acquireLock()
    await using temporary = new TemporaryForks(this.#home)
    const [before, after] = (['before', 'after'] as const).map((moment) =>
      getMergeStateNames(target.mirror, moment),
    )
    const names = await this.#home.vaults()
    if (before === undefined || after === undefined || !names.includes(after.fork)) {
      const detail = `there is no merge into ${target.name} to undo`
      throw new VfsError('ENOENT', target.name, { op: 'undo', detail })
    }
    const changes = compareTrees(await this.#home.posix(after.fork), await this.#home.posix(before.fork))
    // A change after these is noticed by the restore.
    const mirror = await temporary.create(target.mirror)
    const current = { mirror, fork: await temporary.create(target.name) }
    if (!(await this.#isUnchanged(current, before, after))) throw createUsedError(target.name)
    const record = readRecord(await this.#home.posix(mirror))
    try {
      // In this order an interruption is safe. In the other, the fork would seem to remove what its mirror has.
      await this.#restore(target.mirror, before.mirror, mirror, provenance)
      await this.#restore(target.name, before.fork, current.fork, provenance)
    } catch (error) {
      throw isVfsError(error, 'ECONFLICT') ? createUsedError(target.name) : error
    }
    // The time of the last command is not undone.
    if (record !== undefined) writeRecord(await this.#home.posix(target.mirror), record)
    await this.#deleteStates(target)
    return changes
  }

  /** True if a fork has the changes that it had after the merge, or an undo that was killed has restored some of it. */
  async #isUnchanged(
    current: MergeStateNames,
    before: MergeStateNames,
    after: MergeStateNames,
  ): Promise<boolean> {
    const [now, merged] = [await this.#openState(current), await this.#openState(after)]
    if (isSameWork(compareTrees(now.mirror, now.after), compareTrees(merged.mirror, merged.after)))
      return true
    const earlier = await this.#openState(before)
    if (!isSameTree(earlier.mirror, now.mirror)) return false
    return isSameTree(merged.after, now.after) || isSameTree(earlier.after, now.after)
  }

  #openState({ mirror, fork }: MergeStateNames): Promise<ForkTrees> {
    return this.#openTrees({ mirror, name: fork })
  }

  /** Restores a vault, unless an undo that was killed has done so. */
  async #restore(vault: string, before: string, after: string, provenance: Provenance): Promise<void> {
    if ((await this.#home.listTouchedPaths(before, vault)).length === 0) return
    await this.#home.restoreFork(vault, { before, after, label: 'before the last merge', ...provenance })
  }

  async #keepState({ name, mirror }: MergedFork, moment: 'before' | 'after'): Promise<void> {
    const names = getMergeStateNames(mirror, moment)
    await this.#home.fork(mirror, names.mirror)
    await this.#home.fork(name, names.fork)
  }

  async #deleteStates({ mirror }: MergedFork): Promise<void> {
    const names = await this.#home.vaults()
    // The state after the merge goes first: without it there is nothing to undo.
    for (const moment of ['after', 'before'] as const)
      for (const name of Object.values(getMergeStateNames(mirror, moment)).reverse())
        if (names.includes(name)) await this.#home.deleteVault(name)
  }

  async #openTrees({ name, mirror }: MergedFork, by?: Provenance): Promise<ForkTrees> {
    const options = by === undefined ? {} : { by }
    return { mirror: await this.#home.posix(mirror, options), after: await this.#home.posix(name, options) }
  }

  #acquireLock(): Promise<WriteLock> {
    return WriteLock.acquire(this.#home.path, this.#directory)
  }
}

/** True if two lists change the same paths in the same way, but for an index that `git status` wrote again. */
function isSameWork(some: readonly TreeChange[], others: readonly TreeChange[]): boolean {
  const [one, other] = [dropRefreshed(some), dropRefreshed(others)]
  return (
    one.length === other.length &&
    one.every(({ path, before, after }, index) => {
      const same = other[index]
      return same?.path === path && isSame(path, before, same.before) && isSame(path, after, same.after)
    })
  )
}

function dropRefreshed(changes: readonly TreeChange[]): TreeChange[] {
  return changes.filter(({ path, before, after }) => !isRefreshedIndex(path, before, after))
}

function isSame(path: string, one: LinkEntry | undefined, other: LinkEntry | undefined): boolean {
  return isSameEntry(one, other) || isRefreshedIndex(path, one, other)
}

function createUsedError(fork: string): VfsError {
  const detail = `nothing was undone: ${fork} was changed or applied after the merge; look at its changes with coppice diff ${fork}`
  return new VfsError('ECONFLICT', fork, { op: 'undo', detail })
}
