import { isGitDirectory } from '../../git-files/index.ts'
import { compareTrees, createChangeWork, type TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { createFileEntry, type LinkEntry, readEntry } from './link-entry.ts'
import type { EntryMergeOptions } from './merge-entries.ts'
import { createMirrorWork, isUnsure, type MirroredPath } from './mirror.ts'
import { resolveChanges } from './resolve-changes.ts'
import { findEntry, findInode, joinPath, listAncestors, listNames, type TreeFiles } from './tree.ts'
import { performWork } from './tree-work.ts'
import { unpackRefChanges } from './unpacked-refs.ts'

/** The trees of a fork. */
export interface ForkTrees {
  readonly mirror: TreeFiles
  readonly after: TreeFiles
}

/** A planned merge of a fork into another one. */
export interface ForkMergePlan {
  /** States that the target does not know yet, at the changed paths and above. */
  readonly unknown: readonly MirroredPath[]
  /** Changes of the target. */
  readonly written: readonly TreeChange[]
}

/**
 * Plans the merge of a fork into another one of the same directory. The base is what the first one began from. The
 * directory is neither read nor changed. Throws ApplyError in a conflict.
 */
export function planForkMerge(
  directory: string,
  source: ForkTrees,
  target: ForkTrees,
  merge: EntryMergeOptions,
): ForkMergePlan {
  const view = new TargetView(directory, source, target)
  const changes = compareTrees(source.mirror, source.after)
  const unpacked = unpackRefChanges(changes, {
    before: (path) => findEntry(source.mirror, path),
    after: (path) => findEntry(source.after, path),
    directory: (path) => view.findEntry(path),
  })
  const { pending } = resolveChanges(view, unpacked, {
    isUnsure: (path) => view.isKnown(path) && isUnsure(source.mirror, path),
    merge,
    findParent: (path) => findEntry(source.after, path),
    commits: { directory: (path) => view.findEntry(path), fork: (path) => findEntry(source.after, path) },
  })
  // Neither fork has the directories above a ref that was only packed.
  const own = new Set(unpacked.map(({ path }) => path))
  const isParent = ({ path, after }: TreeChange) =>
    after?.type === 'directory' && isGitDirectory(path) && !own.has(path)
  const parents = pending.filter(isParent).map(({ path, after }) => ({ path, entry: after, isUnsure: false }))
  return {
    unknown: [...listUnknown(view, source.mirror, changes), ...parents],
    written: pending.filter((change) => !isParent(change)).map(readMerged),
  }
}

/** Changes the target as planned. If it is interrupted before the last step, the target has only its own changes. */
export async function performForkMerge(
  { mirror, after }: ForkTrees,
  { unknown, written }: ForkMergePlan,
): Promise<void> {
  const work = unknown.map(createMirrorWork)
  // In the other order, the fork would seem to remove what its mirror gets.
  await performWork(after, work)
  await performWork(mirror, work)
  await performWork(after, written.map(createChangeWork))
}

/** The target as the changes of the source meet it. A path that it never touched is as the source found it. */
class TargetView implements DirectoryTree {
  readonly path: string
  readonly #source: ForkTrees
  readonly #target: ForkTrees

  constructor(path: string, source: ForkTrees, target: ForkTrees) {
    this.path = path
    this.#source = source
    this.#target = target
  }

  /** True if the target has stored a state of the path. */
  isKnown(path: string): boolean {
    const { mirror, after } = this.#target
    return findInode(mirror, path) !== undefined || findInode(after, path) !== undefined
  }

  findEntry(path: string): LinkEntry | undefined {
    return findEntry(this.isKnown(path) ? this.#target.after : this.#source.mirror, path)
  }

  isLink(path: string): boolean {
    return this.findEntry(path)?.type === 'symlink'
  }

  listNames(path: string): string[] {
    const names = new Set([
      ...listNames(this.#target.after, path),
      ...listNames(this.#source.mirror, path).filter((name) => !this.isKnown(joinPath(path, name))),
    ])
    return [...names]
  }
}

/** Lists the states that the target lacks at the paths of some changes and above, parents first. */
function listUnknown(view: TargetView, mirror: TreeFiles, changes: readonly TreeChange[]): MirroredPath[] {
  const paths = new Set(changes.flatMap(({ path }) => [...listAncestors(path), path]))
  return [...paths]
    .filter((path) => !view.isKnown(path) && findInode(mirror, path) !== undefined)
    .map((path) => ({ path, entry: findEntry(mirror, path), isUnsure: isUnsure(mirror, path) }))
}

/** Reads a merged file now: it may be written to the file that it is read from. */
function readMerged(change: TreeChange): TreeChange {
  const { after, isMerged } = change
  if (after?.type !== 'file' || !isMerged) return change
  return { ...change, after: createFileEntry(after, readEntry(after)) }
}
