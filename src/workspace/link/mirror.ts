import type { HostTree } from './host-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import type { TouchedPath } from './touched-paths.ts'
import {
  findInode,
  getParent,
  joinPath,
  listAncestors,
  putEntry,
  removeEntry,
  type TreeFiles,
} from './tree.ts'
import type { TreeWork } from './tree-work.ts'

/**
 * Marks a mirrored file that changed in the directory while the command ran: the state that the command saw is
 * unknown.
 */
const UNSURE_XATTR = 'user.coppice.unsure'
const [YES, NO] = [Buffer.from('yes'), Buffer.from('no')]

/** The state of a path in the directory, to store in a mirror. */
export interface MirroredPath {
  readonly path: string
  readonly entry: LinkEntry | undefined
  readonly isUnsure: boolean
}

/**
 * Reads the directory at every changed path, parents first. A session leaves the directory unchanged, so this is the
 * state before the command. O(changes), and everything below a directory that is removed or replaced.
 * @param since in nanoseconds; an entry that changed later may differ from what the command saw.
 */
export function readMirroredPaths(
  directory: HostTree,
  touched: Iterable<TouchedPath>,
  since: bigint,
): Map<string, MirroredPath> {
  const found = new Map<string, MirroredPath>()
  const readPath = (path: string): LinkEntry | undefined => {
    const known = found.get(path)
    if (known !== undefined) return known.entry
    const parent = found.get(getParent(path))
    const hasParent = parent === undefined || parent.entry?.type === 'directory'
    const entry = hasParent ? directory.findEntry(path) : undefined
    const isUnsure = entry !== undefined && entry.type !== 'directory' && isNewer(directory, path, since)
    found.set(path, { path, entry, isUnsure })
    return entry
  }
  const readTree = (path: string) => {
    if (readPath(path)?.type !== 'directory') return
    for (const name of directory.listNames(path)) readTree(joinPath(path, name))
  }
  for (const { path, isCovered } of touched) {
    for (const above of listAncestors(path)) readPath(above)
    if (isCovered) readTree(path)
    else readPath(path)
  }
  return found
}

/** True if the entry at a path changed after a moment, including its permissions. */
function isNewer(directory: HostTree, path: string, since: bigint): boolean {
  return (directory.findStats(path)?.ctimeNs ?? 0n) > since
}

/** Returns the work that makes a tree equal to the directory at one path. */
export function createMirrorWork(mirrored: MirroredPath): TreeWork {
  return { bytes: mirrored.entry?.size ?? 0, run: (tree) => mirrorPath(tree, mirrored) }
}

function mirrorPath(tree: TreeFiles, { path, entry, isUnsure }: MirroredPath): void {
  if (entry === undefined || entry.type === 'other') {
    removeEntry(tree, path)
    return
  }
  putEntry(tree, path, entry)
  const ino = findInode(tree, path)
  if (ino !== undefined && isUnsure !== isMarked(tree, ino))
    tree.setxattr(ino, UNSURE_XATTR, isUnsure ? YES : NO)
}

/** True if a mirrored path changed in the directory while the command ran. See `UNSURE_XATTR`. */
export function isUnsure(tree: TreeFiles, path: string): boolean {
  const ino = findInode(tree, path)
  return ino !== undefined && isMarked(tree, ino)
}

/** Marks a mirrored path as one that changed while the command ran. */
export function markUnsure(tree: TreeFiles, path: string): void {
  const ino = findInode(tree, path)
  if (ino !== undefined) tree.setxattr(ino, UNSURE_XATTR, YES)
}

function isMarked(tree: TreeFiles, ino: number): boolean {
  const mark = tree.getxattr(ino, UNSURE_XATTR)
  return mark !== undefined && YES.equals(mark)
}
