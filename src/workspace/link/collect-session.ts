import type { CallContext } from '../../vfs/index.ts'
import type { SessionChange } from '../session/index.ts'
import { compareTrees, isSameTree, type TreeChange } from './compare-trees.ts'
import { excludeHome } from './exclude-home.ts'
import type { LayerTrees } from './fork-layers.ts'
import { forkMirror } from './fork-mirror.ts'
import { isRefresh } from './git-index.ts'
import type { HostTree } from './host-tree.ts'
import { importSession } from './import-changes.ts'
import type { LinkedFork, LinkHome } from './link-home.ts'
import { readRecord, writeRecord } from './link-record.ts'
import type { MaskContent } from './masked-host-tree.ts'
import { createMirrorWork, type MirroredPath, readMirroredPaths } from './mirror.ts'
import { createMirror } from './started-fork.ts'
import { type TouchedPath, TouchedPaths } from './touched-paths.ts'
import { listAncestors } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

type Provenance = Pick<CallContext, 'caller' | 'trace'>

/** Session changes to keep, and the fork for them. */
export interface CollectOptions {
  /** The fork the session started with; a new one is created when absent. */
  readonly fork?: LinkedFork | undefined
  /** Name of a new fork; generated when absent. */
  readonly name?: string | undefined
  /** Creates a named fork even if there are no changes. */
  readonly keepsEmpty?: boolean | undefined
  /** True if nobody chose the name. */
  readonly isGenerated?: boolean
  readonly changes: readonly SessionChange[]
  /** Start of the session, in nanoseconds since the epoch. */
  readonly since: bigint
  /**
   * Reports whether a change of the fork existed when the session started, or came from it. The session can revert
   * only these. All of them when absent.
   */
  readonly isOwn?: ((path: string) => boolean) | undefined
  /** Called before the session's changes enter a new fork, which is still as the directory. */
  readonly beforeFirstImport?: ((fork: LinkedFork) => Promise<void>) | undefined
  /** Masks the files of the directory as the session did. */
  readonly mask?: MaskContent | undefined
  /** Called before the session's changes enter an existing fork, when the fork has the user's own edits. */
  readonly beforeImport?: ((fork: LinkedFork) => Promise<void>) | undefined
  readonly by?: Provenance
}

/** The directory and forks that a session changed. */
interface CollectingDirectory {
  readonly path: string
  openTree(mask: MaskContent | undefined): HostTree
  openTreeFiles(fork: LinkedFork, provenance?: Provenance): Promise<LayerTrees>
  drop(fork: LinkedFork): Promise<void>
}

/**
 * Stores the changes of a session in a fork, and returns the fork. A session without a fork and without changes gets
 * none, and the result is undefined, unless its fork was named and is to be kept. O(changes).
 */
export async function collectSession(
  home: LinkHome,
  link: CollectingDirectory,
  collection: CollectOptions,
): Promise<LinkedFork | undefined> {
  const { fork, name, isGenerated = name === undefined, keepsEmpty = false, by: provenance = {} } = collection
  const changes = excludeHome(link.path, home.path, collection.changes)
  const hasNoChanges = changes.every((change) => change.kind === 'put' && change.type === 'other')
  const keepsNamed = keepsEmpty && !isGenerated
  if (fork === undefined && hasNoChanges && !keepsNamed) return undefined
  const kept =
    fork === undefined
      ? await createFork(home, link, name, { ...collection, changes })
      : await continueFork(link, fork, { ...collection, changes })
  if (fork === undefined) await collection.beforeFirstImport?.(kept)
  const { before, after } = await link.openTreeFiles(kept, provenance)
  await importSession(after, changes)
  if (fork === undefined && isGenerated && isSameTree(before, after, isRefresh)) {
    await link.drop(kept)
    return undefined
  }
  const { maker, ...record } = readRecord(before) ?? { directory: link.path }
  const isUntouched = fork !== undefined && hasNoChanges && maker !== undefined
  const used = kept.used.getTime()
  writeRecord(before, { ...record, fork: kept.name, used, ...(isUntouched && { maker }) })
  return kept
}

async function createFork(
  home: LinkHome,
  link: CollectingDirectory,
  name: string | undefined,
  { changes, since, mask, by: provenance = {} }: CollectOptions,
): Promise<LinkedFork> {
  const { mirror: base, used } = await createMirror(home, link.path)
  const mirrored = await home.posix(base, { by: provenance })
  using tree = link.openTree(mask)
  const paths = readMirroredPaths(tree, new TouchedPaths(changes, []).listPaths(), since)
  await performWork(mirrored, [...paths.values()].map(createMirrorWork))
  const fork = await forkMirror(home, { directory: link.path, mirror: base, name })
  return { name: fork, mirror: base, used }
}

/**
 * Applies the session's changes to the fork, and reverts those that the session no longer has. For paths that the
 * fork had not changed, the current directory becomes the base.
 */
async function continueFork(
  link: CollectingDirectory,
  fork: LinkedFork,
  collection: CollectOptions,
): Promise<LinkedFork> {
  const { changes, since, isOwn, mask, beforeImport, by: provenance = {} } = collection
  const { before, after } = await link.openTreeFiles(fork, provenance)
  const differences = compareTrees(before, after)
  const touched = new TouchedPaths(
    changes,
    differences.map(({ path }) => path),
    isOwn,
  )
  const isCreated = (change: TreeChange) => change.before === undefined && touched.isContinued(change.path)
  const created = new Set(differences.filter(isCreated).map(({ path }) => path))
  using tree = link.openTree(mask)
  const refresh = async (paths: Iterable<TouchedPath>) => {
    const work = createRefreshWork(readMirroredPaths(tree, paths, since).values(), touched, created)
    // In this order an interruption is safe. In the other, the fork would seem to revert what is new.
    await performWork(after, work)
    await performWork(before, work)
  }
  await refresh(touched.listPaths())
  const kept = { ...fork, used: new Date() }
  await beforeImport?.(kept)
  await refresh(touched.reverted.map((path) => ({ path, isCovered: false })))
  return kept
}

/**
 * Returns the work that makes the linked directory, as it is now, the base of these paths.
 * @param created paths that exist in the fork and not in its base.
 */
function createRefreshWork(
  paths: Iterable<MirroredPath>,
  touched: TouchedPaths,
  created: ReadonlySet<string>,
): TreeWork[] {
  // The base has no place for an entry of the directory if the fork has created the directory around it.
  const hasBase = ({ path, entry }: MirroredPath) =>
    entry === undefined || !listAncestors(path).some((above) => created.has(above))
  const isLost = ({ path, entry }: MirroredPath) =>
    entry?.type !== 'directory' && touched.hasContinuedBelow(path)
  // A directory that the user removed or replaced stays the base of changes inside it: `apply` reports it.
  return [...paths]
    .filter((each) => !touched.isContinued(each.path) && !isLost(each) && hasBase(each))
    .map(createMirrorWork)
}
