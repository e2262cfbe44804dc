import type { FileTime } from '../../machine/index.ts'
import type { FileType } from '../../vfs/index.ts'
import { type EntryContentReference, type LinkEntry, PERMISSION_BITS } from './link-entry.ts'

const READ_BYTES = 1024 * 1024
/**
 * From this size on, content that the home has is not stored again. A fork has a changed file as it was and as it is, and
 * an apply or its undo has it once more. For smaller files, the hashes cost more than the space.
 */
const MIN_FOUND_BYTES = 1024 * 1024
/** Attributes of a directory that is created as a missing parent. */
const PLAIN_DIRECTORY = { mode: 0o755, uid: 0, gid: 0 }

interface TreeOwner {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** The files of a vault by inode number, as `Home.posix` returns them. Every call is complete when it returns. */
export interface TreeFiles {
  batch(work: () => void): void
  /** Runs work whose reads of any vault of the home see one state, which makes them cheaper. A change ends that. */
  readTogether<T>(work: () => T): T
  lookup(parent: number, name: string): number | undefined
  getattr(ino: number): TreeOwner & {
    readonly type: FileType
    readonly size: number
    readonly mtime: FileTime
    readonly nlink: number
  }
  setattr(
    ino: number,
    changes: Partial<TreeOwner> & { readonly size?: number; readonly mtime?: FileTime },
  ): void
  readdir(ino: number, after?: string): readonly { readonly name: string; readonly inode: number }[]
  create(parent: number, name: string, owner: TreeOwner): number
  mkdir(parent: number, name: string, owner: TreeOwner): number
  symlink(parent: number, name: string, target: string, owner: Omit<TreeOwner, 'mode'>): number
  readlink(ino: number): string
  link(ino: number, parent: number, name: string): void
  unlink(parent: number, name: string): void
  rmdir(parent: number, name: string): void
  read(ino: number, position: number, length: number): Uint8Array
  write(ino: number, position: number, bytes: Uint8Array, options?: { readonly findsStored?: boolean }): void
  getContentReference(ino: number): EntryContentReference | undefined
  getxattr(ino: number, name: string): Uint8Array | undefined
  setxattr(ino: number, name: string, value: Uint8Array): void
}

/** Inode number of a tree's root. */
export const ROOT_INODE = 1

/** Returns the inode at a path of a tree, or undefined. Links are not followed. */
export function findInode(tree: TreeFiles, path: string): number | undefined {
  let ino: number | undefined = ROOT_INODE
  for (const name of splitPath(path)) {
    if (ino === undefined || tree.getattr(ino).type !== 'directory') return undefined
    ino = tree.lookup(ino, name)
  }
  return ino
}

/** Returns the entry at a path of a tree, or undefined. */
export function findEntry(tree: TreeFiles, path: string): LinkEntry | undefined {
  const ino = findInode(tree, path)
  return ino === undefined ? undefined : readInode(tree, ino)
}

/** Lists the names in a directory of a tree; none if the path is not a directory. */
export function listNames(tree: TreeFiles, path: string): string[] {
  return listNamesIn(tree, findInode(tree, path))
}

/** Lists the names in a directory by its inode; none if there is no such directory. */
export function listNamesIn(tree: TreeFiles, ino: number | undefined): string[] {
  if (ino === undefined || tree.getattr(ino).type !== 'directory') return []
  return [...listInodes(tree, ino).keys()]
}

/** Maps the names in a directory to their inodes. */
export function listInodes(tree: TreeFiles, directory: number): Map<string, number> {
  const inodes = new Map<string, number>()
  for (let last: string | undefined; ; ) {
    const more = tree.readdir(directory, last)
    if (more.length === 0) return inodes
    for (const { name, inode } of more) inodes.set(name, inode)
    last = more.at(-1)?.name
  }
}

/**
 * Replaces the entry at a path. A directory that stays one keeps its entries. Creates missing parents, and replaces a
 * file above by a directory.
 */
export function putEntry(tree: TreeFiles, path: string, entry: LinkEntry): void {
  if (path === '/') {
    setAttributes(tree, ROOT_INODE, entry)
    return
  }
  const { parent, name } = createParents(tree, path)
  const { type, target } = entry
  const old = tree.lookup(parent, name)
  const stats = old === undefined ? undefined : tree.getattr(old)
  const isKept = stats?.type === type && type !== 'symlink'
  // A file with other names would change under all of them.
  const reused = isKept && (type === 'directory' || stats.nlink === 1) ? old : undefined
  if (old !== undefined && reused === undefined) removeAt(tree, parent, name)
  if (type === 'symlink') setAttributes(tree, tree.symlink(parent, name, target, entry), entry)
  else if (type === 'directory') setAttributes(tree, reused ?? tree.mkdir(parent, name, entry), entry)
  else if (type === 'file' && reused === undefined)
    writeFile(tree, tree.create(parent, name, entry), 0, entry)
  else if (type === 'file' && reused !== undefined) writeFile(tree, reused, stats?.size ?? 0, entry)
}

/** Gives the file at one path a second name, in place of what has that name. False if there is no file. */
export function linkEntry(tree: TreeFiles, from: string, path: string): boolean {
  const ino = findInode(tree, from)
  if (ino === undefined || tree.getattr(ino).type === 'directory') return false
  const { parent, name } = createParents(tree, path)
  if (tree.lookup(parent, name) === ino) return true
  removeAt(tree, parent, name)
  tree.link(ino, parent, name)
  return true
}

/** Removes the entry at a path with everything below; a missing entry is no error. */
export function removeEntry(tree: TreeFiles, path: string): void {
  const parent = findInode(tree, getParent(path))
  if (parent !== undefined && tree.getattr(parent).type === 'directory')
    removeAt(tree, parent, splitPath(path).at(-1) ?? '')
}

export function getParent(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

export function joinPath(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`
}

/** Lists the directories above a path from the top, without the root. */
export function listAncestors(path: string): string[] {
  const names = splitPath(path)
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

/** Splits a path into its components. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

/** Returns the entry of an inode. */
export function readInode(tree: TreeFiles, ino: number): LinkEntry {
  const { type, mode, uid, gid, mtime, size, nlink } = tree.getattr(ino)
  return {
    type,
    mode: mode & PERMISSION_BITS,
    uid,
    gid,
    mtime,
    size: type === 'file' ? size : 0,
    target: type === 'symlink' ? tree.readlink(ino) : '',
    content: () => readContent(tree, ino, size),
    ...(type === 'file' && { getReference: () => tree.getContentReference(ino) }),
    ...(nlink > 1 && { hasOtherNames: true }),
  }
}

function* readContent(tree: TreeFiles, ino: number, size: number): Generator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const chunk = tree.read(ino, position, READ_BYTES)
    if (chunk.length === 0) return
    yield chunk
    position += chunk.length
  }
}

function createParents(tree: TreeFiles, path: string): { readonly parent: number; readonly name: string } {
  const names = splitPath(path)
  const name = names.pop() ?? ''
  let parent = ROOT_INODE
  for (const step of names) {
    const found = tree.lookup(parent, step)
    if (found !== undefined && tree.getattr(found).type === 'directory') parent = found
    else {
      removeAt(tree, parent, step)
      parent = tree.mkdir(parent, step, PLAIN_DIRECTORY)
    }
  }
  return { parent, name }
}

function writeFile(tree: TreeFiles, ino: number, oldSize: number, entry: LinkEntry): void {
  const isSmaller = entry.size < oldSize
  if (isSmaller) tree.setattr(ino, { size: 0 })
  let written = 0
  const findsStored = entry.size >= MIN_FOUND_BYTES
  for (const chunk of entry.content()) {
    tree.write(ino, written, chunk, { findsStored })
    written += chunk.length
  }
  // The file of a directory may have become smaller while it was read.
  if (!isSmaller && written < oldSize) tree.setattr(ino, { size: written })
  setAttributes(tree, ino, entry)
}

function setAttributes(tree: TreeFiles, ino: number, { mode, uid, gid, mtime }: LinkEntry): void {
  tree.setattr(ino, { mode, uid, gid, mtime })
}

function removeAt(tree: TreeFiles, parent: number, name: string): void {
  const ino = tree.lookup(parent, name)
  if (ino === undefined) return
  if (tree.getattr(ino).type !== 'directory') {
    tree.unlink(parent, name)
    return
  }
  for (;;) {
    const names = tree.readdir(ino)
    if (names.length === 0) break
    for (const entry of names) removeAt(tree, ino, entry.name)
  }
  tree.rmdir(parent, name)
}
