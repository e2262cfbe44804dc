import { basename, dirname, resolveLinksSync, type Stat, VfsError } from '../../vfs/index.ts'
import { groupOf, kinds } from '../tree/key.ts'
import type { BlobRef, ContentRef, DirectoryEntry, Inode, Time, TreeValue } from '../tree/records.ts'
import type { Tree } from '../tree/tree.ts'

const ROOT_INODE = 1
const SUPER_INODE = 0
const NEXT_INODE = 'next-inode'
const HAS_LINKS = 'has-links'
const DIRECTORY_MODE = 0o755

/** Fields of a new inode; the rest follows from where and when it is made. */
export type NewInode = Pick<Inode, 'type' | 'mode' | 'size' | 'content'>

/** When a mutation happens, and which journal row it is. */
export interface Moment {
  readonly time: Time
  readonly seq: number
}

/**
 * Files and directories on a vault's tree: names lead to inodes, inodes hold everything else.
 * Synchronous and without errors to wait for: it reads and changes the tree, nothing more.
 */
export class Files {
  readonly tree: Tree<TreeValue>

  constructor(tree: Tree<TreeValue>) {
    this.tree = tree
  }

  /** Makes the root directory of an empty tree. */
  format(moment: Moment): void {
    this.#setNextInode(ROOT_INODE + 1)
    const root = { type: 'directory', mode: DIRECTORY_MODE, size: 0, content: new Uint8Array(0) } as const
    this.setInode(ROOT_INODE, this.#newInode(root, ROOT_INODE, '', moment))
  }

  inodeIfPresent(number: number): Inode | undefined {
    const value = this.tree.get(groupOf(number, kinds.inode), 0)
    return value !== undefined && 'mtime' in value ? value : undefined
  }

  inode(number: number): Inode {
    const inode = this.inodeIfPresent(number)
    if (inode !== undefined) return inode
    throw new VfsError('EIO', `inode ${number}`, { detail: `inode ${number} is missing; run fsck` })
  }

  setInode(number: number, inode: Inode): void {
    this.tree.set(groupOf(number, kinds.inode), 0, inode)
  }

  entry(directory: number, name: string): DirectoryEntry | undefined {
    const value = this.tree.get(groupOf(directory, kinds.entry), name)
    return value !== undefined && 'inode' in value ? value : undefined
  }

  /** The names in a directory, in order. */
  *entries(directory: number): Generator<{ name: string } & DirectoryEntry> {
    for (const { sub, value } of this.tree.inGroup(groupOf(directory, kinds.entry))) {
      if (typeof sub === 'string' && 'inode' in value) yield { name: sub, ...value }
    }
  }

  hasEntries(directory: number): boolean {
    return this.entries(directory).next().done !== true
  }

  chunk(number: number, index: number): BlobRef | undefined {
    const value = this.tree.get(groupOf(number, kinds.chunk), index)
    return value !== undefined && 'blob' in value ? value : undefined
  }

  setChunks(number: number, first: number, chunks: readonly BlobRef[]): void {
    for (const [index, chunk] of chunks.entries())
      this.tree.set(groupOf(number, kinds.chunk), first + index, chunk)
  }

  removeChunks(number: number, first = 0): void {
    const group = groupOf(number, kinds.chunk)
    for (const { sub } of [...this.tree.inGroup(group, first)]) this.tree.delete(group, sub)
  }

  /** The inode at a path without links on the way, or undefined. */
  find(path: string): number | undefined {
    let number = ROOT_INODE
    for (let start = 1; start < path.length; ) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const entry = this.entry(number, path.slice(start, end))
      if (entry === undefined) return undefined
      number = entry.inode
      start = end + 1
    }
    return number
  }

  /** The path with its links followed. A tree that never had one need not look for any. */
  resolve(path: string, followLast: boolean, op: string): string {
    if (this.tree.get(groupOf(SUPER_INODE, kinds.meta), HAS_LINKS) === undefined) return path
    return resolveLinksSync(path, followLast, op, (at) => {
      const number = this.find(at)
      const inode = number === undefined ? undefined : this.inode(number)
      return inode?.type === 'symlink' ? inlineText(inode.content) : null
    })
  }

  /** Where an inode is now. */
  pathOf(number: number): string {
    const names: string[] = []
    for (let at = number; at !== ROOT_INODE; ) {
      const { parent, name } = this.inode(at)
      names.push(name)
      at = parent
    }
    return `/${names.reverse().join('/')}`
  }

  /** The directory a path is in, made with all above it if `parents`. ENOENT, ENOTDIR. */
  parentOf(path: string, parents: boolean, op: string, moment: Moment): number {
    let number = ROOT_INODE
    for (let start = 1, slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', start)) {
      const name = path.slice(start, slash)
      const entry = this.entry(number, name)
      if (entry === undefined && !parents) throw new VfsError('ENOENT', path, { op })
      if (entry !== undefined && entry.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
      number = entry?.inode ?? this.make(number, name, emptyDirectory(), moment)
      start = slash + 1
    }
    return number
  }

  make(parent: number, name: string, fields: NewInode, moment: Moment): number {
    if (fields.type === 'symlink')
      this.tree.set(groupOf(SUPER_INODE, kinds.meta), HAS_LINKS, new Uint8Array(0))
    const number = this.#nextInode()
    this.#setNextInode(number + 1)
    this.setInode(number, this.#newInode(fields, parent, name, moment))
    this.tree.set(groupOf(parent, kinds.entry), name, { inode: number, type: fields.type })
    this.touch(parent, moment)
    return number
  }

  /** Takes a name out of its directory, with everything below it. */
  unlink(path: string, number: number, moment: Moment): void {
    const pending = [number]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      for (const { name, inode } of [...this.entries(at)]) {
        pending.push(inode)
        this.tree.delete(groupOf(at, kinds.entry), name)
      }
      this.removeChunks(at)
      this.tree.delete(groupOf(at, kinds.inode), 0)
    }
    this.#dropEntry(path, moment)
  }

  move(from: string, number: number, to: string, moment: Moment): void {
    const parent = this.parentOf(to, true, 'rename', moment)
    const inode = this.inode(number)
    this.#dropEntry(from, moment)
    this.tree.set(groupOf(parent, kinds.entry), basename(to), { inode: number, type: inode.type })
    this.setInode(number, { ...inode, parent, name: basename(to), ctime: moment.time })
    this.touch(parent, moment)
  }

  touch(directory: number, { time }: Moment): void {
    this.setInode(directory, { ...this.inode(directory), mtime: time, ctime: time })
  }

  #dropEntry(path: string, moment: Moment): void {
    const parent = this.find(dirname(path))
    if (parent === undefined) return
    this.tree.delete(groupOf(parent, kinds.entry), basename(path))
    this.touch(parent, moment)
  }

  #newInode(fields: NewInode, parent: number, name: string, { time, seq }: Moment): Inode {
    return { ...fields, uid: 0, gid: 0, links: 1, mtime: time, ctime: time, version: seq, parent, name }
  }

  #nextInode(): number {
    const value = this.tree.get(groupOf(SUPER_INODE, kinds.meta), NEXT_INODE)
    return value instanceof Uint8Array ? Number(Buffer.from(value).toString()) : ROOT_INODE + 1
  }

  #setNextInode(number: number): void {
    this.tree.set(groupOf(SUPER_INODE, kinds.meta), NEXT_INODE, Buffer.from(String(number)))
  }
}

export function emptyDirectory(mode: number = DIRECTORY_MODE): NewInode {
  return { type: 'directory', mode, size: 0, content: new Uint8Array(0) }
}

export function inlineText(content: ContentRef): string {
  return content instanceof Uint8Array ? Buffer.from(content).toString() : ''
}

/** What the protocol tells of an inode. */
export function statOf({ type, size, mtime, mode }: Inode): Stat {
  const time = mtime.seconds * 1000 + Math.floor(mtime.nanos / 1e6)
  return { type, size: type === 'directory' ? 0 : size, mtime: new Date(time), mode }
}
