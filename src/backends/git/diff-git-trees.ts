import { child, type PathChange, type Stat } from '../../vfs/index.ts'
import type { TreeCache } from './tree-cache.ts'
import type { GitDirectory, TreeEntry } from './tree-object.ts'

/** A tree to compare: the cache of its directories, and the conversion of its entries. */
export interface DiffSide {
  /** Id of the root tree; undefined for an empty one. */
  readonly root: string | undefined
  readonly trees: TreeCache
  readonly toStat: (entry: TreeEntry) => Stat
}

/** One path at which two trees differ, with the entry of each. A directory appears only through its content. */
export interface GitDifference {
  readonly path: string
  readonly before: TreeEntry | undefined
  readonly after: TreeEntry | undefined
}

/** Two directories to compare, or a directory that only one side has. */
interface DirectoryPair {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Yields the changes from one tree to another, sorted by path, in time proportional to the changes. */
export async function* diffGitTrees(before: DiffSide, after: DiffSide): AsyncGenerator<PathChange> {
  const found = await findDifferences(before, after)
  await before.trees.loadSizes(found.flatMap((difference) => difference.before ?? []))
  await after.trees.loadSizes(found.flatMap((difference) => difference.after ?? []))
  for (const difference of found) {
    const [old, current] = [
      difference.before && before.toStat(difference.before),
      difference.after && after.toStat(difference.after),
    ]
    if (old !== undefined && current !== undefined && old.type === current.type)
      yield { kind: 'modified', path: difference.path, before: old, after: current }
    else {
      if (old !== undefined) yield { kind: 'deleted', path: difference.path, before: old }
      if (current !== undefined) yield { kind: 'added', path: difference.path, after: current }
    }
  }
}

/**
 * Finds every file, link and submodule that differs, sorted by path. Skips directories with the same id; calls
 * `inspect` with each directory of the second tree that it compares.
 */
export async function findDifferences(
  before: Pick<DiffSide, 'root' | 'trees'>,
  after: Pick<DiffSide, 'root' | 'trees'>,
  inspect: (path: string, directory: GitDirectory) => void = () => {},
): Promise<GitDifference[]> {
  const found: GitDifference[] = []
  let pairs: DirectoryPair[] =
    before.root === after.root ? [] : [{ path: '/', before: before.root, after: after.root }]
  while (pairs.length > 0) {
    const [old, current] = await Promise.all([
      before.trees.load(pairs.flatMap((pair) => pair.before ?? [])),
      after.trees.load(pairs.flatMap((pair) => pair.after ?? [])),
    ])
    const [oldDirectories, newDirectories] = [old.values(), current.values()]
    pairs = pairs.flatMap((pair) => {
      const oldDirectory = pair.before === undefined ? undefined : oldDirectories.next().value
      const newDirectory = pair.after === undefined ? undefined : newDirectories.next().value
      if (newDirectory !== undefined) inspect(pair.path, newDirectory)
      return compareDirectories(pair.path, oldDirectory, newDirectory, found)
    })
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Records the differences of a directory, and returns the subdirectories that may differ. */
function compareDirectories(
  path: string,
  before: GitDirectory | undefined,
  after: GitDirectory | undefined,
  found: GitDifference[],
): DirectoryPair[] {
  const pairs: DirectoryPair[] = []
  const names = new Set([...(before?.byName.keys() ?? []), ...(after?.byName.keys() ?? [])])
  for (const name of names) {
    const [old, current] = [before?.byName.get(name), after?.byName.get(name)]
    if (isSameEntry(old, current)) continue
    const entryPath = child(path, name)
    const [oldTree, newTree] = [getTreeId(old), getTreeId(current)]
    if (oldTree !== undefined || newTree !== undefined)
      pairs.push({ path: entryPath, before: oldTree, after: newTree })
    const [oldLeaf, newLeaf] = [toLeaf(old), toLeaf(current)]
    if (oldLeaf !== undefined || newLeaf !== undefined)
      found.push({ path: entryPath, before: oldLeaf, after: newLeaf })
  }
  return pairs
}

function isSameEntry(old: TreeEntry | undefined, current: TreeEntry | undefined): boolean {
  return (
    old?.id === current?.id &&
    old?.type === current?.type &&
    old?.mode === current?.mode &&
    old?.isSubmodule === current?.isSubmodule
  )
}

function getTreeId(entry: TreeEntry | undefined): string | undefined {
  return entry?.type === 'directory' && !entry.isSubmodule ? entry.id : undefined
}

function toLeaf(entry: TreeEntry | undefined): TreeEntry | undefined {
  return getTreeId(entry) === undefined ? entry : undefined
}
