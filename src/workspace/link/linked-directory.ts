import { realpathSync } from 'node:fs'
import { createProcessTag } from '../../machine/index.ts'
import { type CallContext, type PathChange, type Stat, VfsError } from '../../vfs/index.ts'
import type { SessionChange, StagedChange } from '../session/index.ts'
import { canRestore } from './can-restore.ts'
import { findFirstNames } from './compare-touched-paths.ts'
import { compareTrees, findChangedDirectories, isSameTree, type TreeChange } from './compare-trees.ts'
import { excludeHome } from './exclude-home.ts'
import { type ApplyContext, ForkApply, type Recovery } from './fork-apply.ts'
import { forkMirror } from './fork-mirror.ts'
import { ForkPoint } from './fork-point.ts'
import { isReachedByDirectories } from './host-stats.ts'
import { HostTree } from './host-tree.ts'
import { importSession } from './import-changes.ts'
import type { LinkEntry } from './link-entry.ts'
import type { LinkHome, LinkVault } from './link-home.ts'
import { createMirrorName, getUndoName, isMirrorOf, writeRecord } from './link-record.ts'
import { findLostDirectories } from './lost-directories.ts'
import { createMirrorWork, type MirroredPath, readMirroredPaths } from './mirror.ts'
import { isReservedPath } from './stage-names.ts'
import { toStagedChanges } from './staged-changes.ts'
import { type TouchedPath, TouchedPaths } from './touched-paths.ts'
import type { TreeFiles } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'
import { isUnfinishedFork } from './unfinished-fork.ts'

/** A fork of a linked directory. */
export interface LinkedFork {
  /** The vault with the changes. */
  readonly name: string
  /** The vault that mirrors what the directory had at the paths it changed. */
  readonly mirror: string
  /** When a command last ran in it. */
  readonly used: Date
}

type Provenance = Pick<CallContext, 'caller' | 'trace'>

/** Session changes to keep, and the fork for them. */
export interface CollectOptions {
  /** The fork the session began with; a new one is made when absent. */
  readonly fork?: LinkedFork | undefined
  /** The name of a new fork; one is found when absent. */
  readonly name?: string | undefined
  readonly changes: readonly SessionChange[]
  /** When the session began, in nanoseconds since the epoch. */
  readonly since: bigint
  /**
   * Whether a change of the fork was there when the session began, or came from it: only these can it take back. All
   * of them when absent.
   */
  readonly isOwn?: ((path: string) => boolean) | undefined
  /** Called before the session's changes come into a fork that was there, when the fork has the user's own edits. */
  readonly beforeImport?: ((fork: LinkedFork) => Promise<void>) | undefined
  readonly by?: Provenance
}

/**
 * A directory of this machine that commands change in forks. Nothing of it is imported: a home has only the paths that
 * commands touched, as they were (the mirror of a fork) and as they are in the fork. The directory itself changes in
 * `apply` and `undo` alone.
 */
export class LinkedDirectory {
  /** Its real path. */
  readonly path: string
  readonly #home: LinkHome
  readonly #apply: ForkApply

  /** ENOENT if there is no such directory. */
  constructor(home: LinkHome, directory: string) {
    this.#home = home
    this.path = realpathSync(directory)
    this.#apply = new ForkApply(home, this.path)
  }

  /** Finishes or takes back what was begun by an apply or undo whose process was killed, and says what became of it. */
  async recover(): Promise<Recovery[]> {
    const recoveries: Recovery[] = []
    for (const name of await this.#home.vaults()) {
      const { recovery } = isMirrorOf(this.path, name) ? await this.#apply.recoverApply(name) : {}
      if (recovery !== undefined) recoveries.push(recovery)
    }
    return recoveries
  }

  /** All forks, the one that was used last first. Takes back an apply or a fork whose process was killed, and all it left. */
  async listForks(): Promise<LinkedFork[]> {
    const names = new Set(await this.#home.vaults())
    const found: LinkedFork[] = []
    for (const name of names) {
      if (!isMirrorOf(this.path, name) || (await isUnfinishedFork(this.#home, name))) continue
      const { record } = await this.#apply.recoverApply(name)
      if (record !== undefined && names.has(record.fork))
        found.push({ name: record.fork, mirror: name, used: new Date(record.used) })
    }
    return found.sort((one, other) => other.used.getTime() - one.used.getTime())
  }

  /** A fork by its name, or the one that was used last. ENOENT. */
  async getFork(name?: string): Promise<LinkedFork> {
    const forks = await this.listForks()
    const found = name === undefined ? forks[0] : forks.find((fork) => fork.name === name)
    if (found !== undefined) return found
    const what = name === undefined ? 'has no fork yet' : `has no fork '${name}'`
    const known = forks.length === 0 ? '' : ` (there is ${forks.map((fork) => fork.name).join(', ')})`
    const detail = `${this.path} ${what}${known}; coppice exec -- <command> makes one`
    throw new VfsError('ENOENT', this.path, { op: 'fork', detail })
  }

  /**
   * Yields the fork's changes, or those since another vault, with permissions of directories; sorted
   * by path.
   */
  async *diff(fork: LinkedFork, since: string = fork.mirror): AsyncGenerator<PathChange> {
    const vault = await this.#home.vault(fork.name)
    const { before, after } = await this.#openTreeFiles({ ...fork, mirror: since })
    const directories = findChangedDirectories(before, after).map(toDirectoryChange)
    for await (const change of vault.diff({ vault: since })) {
      while (directories[0] !== undefined && directories[0].path < change.path)
        yield* directories.splice(0, 1)
      if (change.path !== '/') yield change
    }
    yield* directories
  }

  /** The two vaults a diff leads from and to. */
  async openTrees(
    fork: LinkedFork,
    since: string = fork.mirror,
  ): Promise<{ readonly before: LinkVault; readonly after: LinkVault }> {
    return { before: await this.#home.vault(since), after: await this.#home.vault(fork.name) }
  }

  /** Keeps the fork as it is now, until that is disposed of. O(1). */
  snapshot({ name }: LinkedFork): Promise<ForkPoint> {
    return ForkPoint.create(this.#home, name)
  }

  /** The fork's changes path by path, a directory before what is in it; permissions of directories included. */
  async listChanges(fork: LinkedFork): Promise<TreeChange[]> {
    const { before, after } = await this.#openTreeFiles(fork)
    return compareTrees(before, after)
  }

  /** These as a session takes them on top of the directory, whatever has become of the directories they are in. */
  async createStagedChanges(fork: LinkedFork, changes: readonly TreeChange[]): Promise<StagedChange[]> {
    const { after } = await this.#openTreeFiles(fork)
    const names = findFirstNames(
      after,
      changes.map(({ path }) => path),
    )
    return toStagedChanges([...findLostDirectories(this.path, after, changes), ...changes], names)
  }

  /**
   * True if a change can be kept: what it replaces or removes here must be restorable. Reserved names of the
   * write stage are not: applied, they would block other writers.
   */
  canKeep(change: SessionChange): boolean {
    if (isReservedPath(change.path)) return false
    const isCovered = change.kind === 'gone' || change.type !== 'directory'
    return !isReachedByDirectories(this.path, change.path) || canRestore(this.path + change.path, isCovered)
  }

  /**
   * Keeps what a session changed; undefined if that is nothing and there was no fork. O(changes). Times are kept, and
   * alone are nothing, unless the fork was given a name to go on in.
   */
  async collect(collection: CollectOptions): Promise<LinkedFork | undefined> {
    const { fork, name, since, by = {} } = collection
    const changes = excludeHome(this.path, this.#home.path, collection.changes)
    const isNothing = changes.every((change) => change.kind === 'put' && change.type === 'other')
    if (fork === undefined && isNothing) return undefined
    const kept =
      fork === undefined
        ? await this.#createFork(name, changes, since, by)
        : await this.#continueFork(fork, { ...collection, changes })
    const { before, after } = await this.#openTreeFiles(kept, by)
    await importSession(after, changes)
    if (fork === undefined && name === undefined && isSameTree(before, after)) {
      await this.drop(kept)
      return undefined
    }
    writeRecord(before, { directory: this.path, fork: kept.name, used: kept.used.getTime() })
    return kept
  }

  /**
   * Writes a fork's changes into the directory: all of them, or none. ECONFLICT (`ApplyError`) if the directory has
   * changed at any of these paths, or lacks what a fork has that was never applied. Returns what was written; the fork is then a fork of what is there now. Others who
   * write to the directory are waited for.
   */
  apply(fork: LinkedFork, context: ApplyContext = {}): Promise<TreeChange[]> {
    return this.#apply.apply(fork, context)
  }

  /** The paths at which the directory is not as the fork has it, of all that commands touched in the fork. */
  listDifferingPaths(fork: LinkedFork): Promise<string[]> {
    return this.#apply.listDifferingPaths(fork.name)
  }

  /** Takes back the last apply of a fork; its changes are changes again. ENOENT if there is none, ECONFLICT. */
  undo(fork: LinkedFork, context: ApplyContext = {}): Promise<TreeChange[]> {
    return this.#apply.undo(fork, context)
  }

  /** Deletes a fork with everything that is kept for it. */
  async drop({ name, mirror: base }: LinkedFork): Promise<void> {
    const names = await this.#home.vaults()
    for (const vault of [name, getUndoName(base), base]) {
      if (names.includes(vault)) await this.#home.deleteVault(vault)
    }
  }

  async #createFork(
    name: string | undefined,
    changes: readonly SessionChange[],
    since: bigint,
    by: Provenance,
  ): Promise<LinkedFork> {
    const base = createMirrorName(this.path)
    await this.#home.createVault(base)
    const mirrored = await this.#home.posix(base, { by })
    const used = new Date()
    writeRecord(mirrored, { directory: this.path, fork: '', used: used.getTime(), maker: createProcessTag() })
    using tree = new HostTree(this.path)
    const paths = readMirroredPaths(tree, new TouchedPaths(changes, []).listPaths(), since)
    await performWork(mirrored, [...paths.values()].map(createMirrorWork))
    const fork = await forkMirror(this.#home, { directory: this.path, mirror: base, name })
    return { name: fork, mirror: base, used }
  }

  /**
   * Makes the fork what the session began with, and then takes back what the session no longer has. What the fork left
   * alone is from now on what the directory has; so its new changes are changes of that.
   */
  async #continueFork(fork: LinkedFork, collection: CollectOptions): Promise<LinkedFork> {
    const { changes, since, isOwn, beforeImport, by = {} } = collection
    const { before, after } = await this.#openTreeFiles(fork, by)
    const changed = compareTrees(before, after).map(({ path }) => path)
    const touched = new TouchedPaths(changes, changed, isOwn)
    using tree = new HostTree(this.path)
    const refresh = async (paths: Iterable<TouchedPath>) => {
      const work = createRefreshWork(readMirroredPaths(tree, paths, since).values(), touched)
      // Were it cut short between the two the other way round, the fork would seem to take back what is new.
      await performWork(after, work)
      await performWork(before, work)
    }
    await refresh(touched.listPaths())
    const kept = { ...fork, used: new Date() }
    await beforeImport?.(kept)
    await refresh(touched.reverted.map((path) => ({ path, isCovered: false })))
    return kept
  }

  async #openTreeFiles(
    { name, mirror: base }: LinkedFork,
    by: Provenance = {},
  ): Promise<{ readonly before: TreeFiles; readonly after: TreeFiles }> {
    return { before: await this.#home.posix(base, { by }), after: await this.#home.posix(name, { by }) }
  }
}

function createRefreshWork(paths: Iterable<MirroredPath>, touched: TouchedPaths): TreeWork[] {
  const isLost = ({ path, entry }: MirroredPath) =>
    entry?.type !== 'directory' && touched.hasContinuedBelow(path)
  // A directory that the user removed or replaced remains the base of a change in it: `apply` reports it.
  return [...paths].filter((each) => !touched.isContinued(each.path) && !isLost(each)).map(createMirrorWork)
}

function toDirectoryChange({ path, before, after }: TreeChange): PathChange {
  return {
    kind: 'modified',
    path,
    ...(before !== undefined && { before: toStat(before) }),
    ...(after !== undefined && { after: toStat(after) }),
  }
}

function toStat({ type, size, mtime, mode }: LinkEntry): Stat {
  return { type, size, mode, mtime: new Date(mtime.seconds * 1000 + mtime.nanos / 1e6) }
}
