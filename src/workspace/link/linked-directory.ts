import { realpathSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { type CallContext, type PathChange, VfsError } from '../../vfs/index.ts'
import type { SessionChange, StagedChange } from '../session/index.ts'
import type { Recovery } from './apply-journal.ts'
import { canRestore } from './can-restore.ts'
import { type CollectOptions, collectSession } from './collect-session.ts'
import { findFirstNames } from './compare-touched-paths.ts'
import { compareTrees, isSameTree, type TreeChange } from './compare-trees.ts'
import { type ApplyContext, ForkApply } from './fork-apply.ts'
import { diffFork } from './fork-diff.ts'
import { removeForkFiles } from './fork-files.ts'
import type { LayerTrees } from './fork-layers.ts'
import { ForkMerge, type ForkMergeOptions } from './fork-merge.ts'
import { ForkPoint } from './fork-point.ts'
import { addGitDetails } from './git-commits.ts'
import { isRefresh } from './git-index.ts'
import { isReachedByDirectories } from './host-stats.ts'
import { HostTree } from './host-tree.ts'
import type { LinkCheckpoint, LinkedFork, LinkHome, LinkVault } from './link-home.ts'
import { isMirrorOf, listCompanionNames, readRecord } from './link-record.ts'
import { findLostDirectories } from './lost-directories.ts'
import { type MaskContent, MaskedHostTree } from './masked-host-tree.ts'
import { isReservedPath } from './stage-names.ts'
import { toStagedChanges } from './staged-changes.ts'
import {
  type ForkSource,
  findStartedFork,
  joinFork,
  markUsed,
  restoreFork,
  startFork,
} from './started-fork.ts'
import { findEntry } from './tree.ts'
import { sweepUnfinishedFork } from './unfinished-fork.ts'
import { WriteLock } from './write-lock.ts'

type Provenance = Pick<CallContext, 'caller' | 'trace'>

/**
 * A directory of this machine that commands change in forks. It is not imported: a home has only the changed paths,
 * with their state before (the mirror of a fork) and after (the fork). The directory itself changes only in `apply`
 * and `undo`.
 */
export class LinkedDirectory {
  /** Its real path. */
  readonly path: string
  readonly #home: LinkHome
  readonly #apply: ForkApply
  readonly #merge: ForkMerge

  /** Throws ENOENT if there is no such directory. */
  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.path = realpathSync(directory)
    this.#apply = new ForkApply(home, this.path)
    this.#merge = new ForkMerge(home, this.path)
  }

  /** Completes or reverts an apply or undo whose process was killed, and returns the outcomes. */
  async recover(): Promise<Recovery[]> {
    const recoveries: Recovery[] = []
    for (const name of await this.#home.vaults()) {
      const { recovery } = isMirrorOf(this.path, name) ? await this.#apply.recoverApply(name) : {}
      if (recovery !== undefined) recoveries.push(recovery)
    }
    return recoveries
  }

  /**
   * Lists all forks, most recently used first. Completes or reverts an apply, and removes an incomplete fork, whose
   * process was killed.
   */
  async listForks(): Promise<LinkedFork[]> {
    const names = new Set(await this.#home.vaults())
    const found: LinkedFork[] = []
    for (const name of names) {
      if (!isMirrorOf(this.path, name) || (await sweepUnfinishedFork(this.#home, name))) continue
      const { record } = await this.#apply.recoverApply(name)
      if (record !== undefined && names.has(record.fork))
        found.push({ name: record.fork, mirror: name, used: new Date(record.used) })
    }
    return found.sort((one, other) => other.used.getTime() - one.used.getTime())
  }

  /**
   * Finds a fork by its name, also a started one, which is not listed yet. Removes it first if it is incomplete and its
   * process was killed.
   */
  async findFork(name: string): Promise<LinkedFork | undefined> {
    if (!(await this.#home.vaults()).includes(name)) return undefined
    const listed = (await this.listForks()).find((fork) => fork.name === name)
    return listed ?? findStartedFork(this.#home, this.path, name)
  }

  /** Lists a fork in which another process works too. Neither then deletes it because it has no changes. */
  joinFork(fork: LinkedFork): Promise<void> {
    return joinFork(this.#home, fork)
  }

  /**
   * Waits until no other process writes to the directory or stores changes of a command in a fork of it. One that was
   * deleted meanwhile needs no lock.
   */
  async lock(): Promise<Disposable> {
    try {
      return await WriteLock.acquire(this.#home.path, this.path)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return { [Symbol.dispose]: () => {} }
      throw error
    }
  }

  /** Returns a fork by its name, or the one used last. Throws ENOENT if there is none. */
  async getFork(name?: string): Promise<LinkedFork> {
    const forks = await this.listForks()
    const found = name === undefined ? forks[0] : await this.findFork(name)
    if (found !== undefined) return found
    const problem = name === undefined ? 'has no fork yet' : `has no fork '${name}'`
    const known = forks.map((fork) => fork.name).join(', ')
    const next = known === '' ? 'create one with: coppice exec -- <command>' : `its forks: ${known}`
    const detail = `${this.path} ${problem}; ${next}`
    throw new VfsError('ENOENT', this.path, { op: 'fork', detail })
  }

  /**
   * Yields the fork's changes, or those since another vault, with permissions of directories; sorted by path.
   */
  async *diff(fork: LinkedFork, since: string = fork.mirror): AsyncGenerator<PathChange> {
    const trees = await this.openTreeFiles({ ...fork, mirror: since })
    yield* diffFork(await this.#home.vault(fork.name), since, trees)
  }

  /** Opens the vaults of a diff: that of the fork, and its mirror or another one. */
  async openTrees(
    fork: LinkedFork,
    since: string = fork.mirror,
  ): Promise<{ readonly before: LinkVault; readonly after: LinkVault }> {
    return { before: await this.#home.vault(since), after: await this.#home.vault(fork.name) }
  }

  /** Keeps the current state of the fork until the result is disposed. O(1). */
  snapshot({ name }: LinkedFork): Promise<ForkPoint> {
    return ForkPoint.create(this.#home, name)
  }

  /**
   * Returns the snapshot that a killed process took of a fork; undefined if another process swept it.
   *
   * @param vault the vault of that snapshot.
   */
  async findSnapshot(vault: string): Promise<ForkPoint | undefined> {
    const exists = (await this.#home.vaults()).includes(vault)
    return exists ? ForkPoint.adopt(this.#home, vault) : undefined
  }

  /**
   * Lists the fork's changes by path, a directory before its entries, with permissions of directories and the commits
   * of branches and what is checked out.
   */
  async listChanges(fork: LinkedFork): Promise<TreeChange[]> {
    const { before, after } = await this.openTreeFiles(fork)
    return addGitDetails(compareTrees(before, after), {
      before: (path) => findEntry(before, path),
      after: (path) => findEntry(after, path),
    })
  }

  /**
   * Converts these to changes that a session stages on the directory, even if their parent directories were removed.
   */
  async createStagedChanges(fork: LinkedFork, changes: readonly TreeChange[]): Promise<StagedChange[]> {
    const { after } = await this.openTreeFiles(fork)
    const names = findFirstNames(
      after,
      changes.map(({ path }) => path),
    )
    return toStagedChanges([...findLostDirectories(this.path, after, changes), ...changes], names)
  }

  /**
   * True if a change can be kept: the entry it replaces or removes must be restorable. Names reserved for the stage
   * cannot be kept: applied, they would block other writers.
   */
  canKeep(change: SessionChange): boolean {
    return this.canChange(change.path, change.kind === 'gone' || change.type !== 'directory')
  }

  /** As `canKeep`, for a path; with `isCovered` if nothing is left of its entry. */
  canChange(path: string, isCovered: boolean): boolean {
    if (isReservedPath(path)) return false
    return !isReachedByDirectories(this.path, path) || canRestore(this.path + path, isCovered)
  }

  /**
   * Stores the changes of a session, and returns its fork; undefined if it has none and needs none. O(changes). Changed
   * times are stored, but count as no change unless the fork was named.
   */
  collect(collection: CollectOptions): Promise<LinkedFork | undefined> {
    return collectSession(this.#home, this, collection)
  }

  /**
   * Writes the changes of a fork, or of several in this order, into the directory: all or none. ECONFLICT
   * (`ApplyError`) if the directory changed at any of these paths, or differs from a fork that was never applied.
   * ENOENT if no fork has a change at a selected path. Returns the changes; a fork is then based on the current
   * directory at their paths, and keeps the others. Waits for other writers.
   */
  apply(forks: LinkedFork | readonly LinkedFork[], context: ApplyContext = {}): Promise<TreeChange[]> {
    return this.#apply.apply([forks].flat(), context)
  }

  /**
   * Merges the changes of a fork into another fork; the directory stays as it is. ECONFLICT (`ApplyError`) if both
   * changed the same lines. Returns the changes of the target.
   */
  mergeForks(source: LinkedFork, target: LinkedFork, options: ForkMergeOptions = {}): Promise<TreeChange[]> {
    return this.#merge.merge(source, target, options)
  }

  /**
   * Undoes the last merge into a fork, and returns the changes. Throws ENOENT if there is none, ECONFLICT if the fork
   * was changed or applied since.
   */
  undoMerge(target: LinkedFork, provenance: Provenance = {}): Promise<TreeChange[]> {
    return this.#merge.undo(target, provenance)
  }

  /** Lists the paths at which the directory differs from the fork, among all that commands changed in it. */
  listDifferingPaths(fork: LinkedFork): Promise<string[]> {
    return this.#apply.listDifferingPaths(fork.name)
  }

  /**
   * Undoes the last apply of a fork, and of the forks that were applied with it; their changes become pending again.
   * Throws ENOENT if there is none, ECONFLICT if files changed since.
   */
  undo(fork: LinkedFork, context: ApplyContext = {}): Promise<TreeChange[]> {
    return this.#apply.undo(fork, context)
  }

  /** True if the last apply of a fork can be undone. */
  isApplied(fork: LinkedFork): Promise<boolean> {
    return this.#apply.isApplied(fork)
  }

  /** Lists the names of the forks that an undo of this one reverts, in the order of their apply. */
  listAppliedTogether(fork: LinkedFork): Promise<string[]> {
    return this.#apply.listAppliedTogether(fork)
  }

  /**
   * Creates an empty fork for a process that changes it step by step, or a copy of another one. It is listed once it is
   * used; one that is not used when the process ends is deleted. Adds a number if the name is taken.
   */
  startFork(name: string, source?: ForkSource): Promise<LinkedFork> {
    return startFork(this.#home, this.path, name, source)
  }

  /** Records that a fork is in use: it is kept, and listed first. Cheap if that was recorded just now. */
  markUsed(fork: LinkedFork): Promise<void> {
    return markUsed(this.#home, fork)
  }

  /** Deletes a fork that has no changes, but perhaps an index that git wrote again, and was never applied. Returns false if it stays. */
  async dropIfUnused(fork: LinkedFork): Promise<boolean> {
    if (await this.isApplied(fork)) return false
    const { before, after } = await this.openTreeFiles(fork)
    if (!isSameTree(before, after, isRefresh) || readRecord(before)?.isShared === true) return false
    await this.drop(fork)
    return true
  }

  /** Takes a checkpoint of a fork and one of its mirror, by the same name. Throws EEXIST if the name is taken. */
  async checkpoint(
    fork: LinkedFork,
    name?: string,
    notes: { readonly description?: string } = {},
  ): Promise<LinkCheckpoint> {
    const point = await (await this.#home.vault(fork.name)).checkpoint(name, notes)
    await (await this.#home.vault(fork.mirror)).checkpoint(point.name)
    return point
  }

  /** Deletes a checkpoint of a fork and that of its mirror. */
  async removeCheckpoint(fork: LinkedFork, name: string): Promise<void> {
    await (await this.#home.vault(fork.mirror)).removeCheckpoint(name)
    await (await this.#home.vault(fork.name)).removeCheckpoint(name)
  }

  /** Takes a fork back to a checkpoint. Throws ENOENT if there is none. */
  restore(fork: LinkedFork, name: string, provenance: Provenance = {}): Promise<void> {
    return restoreFork(this.#home, fork, name, provenance)
  }

  /** Deletes a fork and everything stored for it. */
  async drop({ name, mirror }: LinkedFork): Promise<void> {
    const names = await this.#home.vaults()
    for (const vault of [name, ...listCompanionNames(mirror), mirror]) {
      if (names.includes(vault)) await this.#home.deleteVault(vault)
    }
    await removeForkFiles(this.#home.path, name)
  }

  /** Opens the directory itself, as a command with this mask sees it. */
  openTree(mask: MaskContent | undefined): HostTree {
    return mask === undefined ? new HostTree(this.path) : new MaskedHostTree(this.path, mask)
  }

  /** Opens the files of a fork and of its mirror. */
  async openTreeFiles({ name, mirror }: LinkedFork, provenance: Provenance = {}): Promise<LayerTrees> {
    return {
      before: await this.#home.posix(mirror, { by: provenance }),
      after: await this.#home.posix(name, { by: provenance }),
    }
  }
}
