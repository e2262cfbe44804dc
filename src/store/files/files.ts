import { resolveLinksSync, type Stat, VfsError } from '../../vfs/index.ts'
import { type Counters, decodeCounters, noFiles } from '../tree/counters.ts'
import { groupOf, kinds } from '../tree/key.ts'
import type { BlobRef, ContentRef, DirectoryEntry, Inode, Time, TreeValue } from '../tree/records.ts'
import type { Tree } from '../tree/tree.ts'

export const ROOT_INODE = 1
/** The vault itself: its counters, merge points, tagged and nameless files. */
export const VAULT_INODE = 0
const COUNTERS = 'counters'
const DIRECTORY_MODE = 0o755

/** Fields of a new inode; the rest follows from where and when it is made. */
export type NewInode = Pick<Inode, 'type' | 'mode' | 'size' | 'content'> &
  Partial<Pick<Inode, 'uid' | 'gid' | 'atime' | 'mtime'>>

/** A name in a directory and what it leads to. */
export type NamedEntry = { readonly name: string } & DirectoryEntry

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
  format({ time, seq }: Moment): void {
    this.setCounters({ ...noFiles, nextInode: ROOT_INODE + 1 })
    const times = { atime: time, mtime: time, ctime: time }
    const place = { parent: ROOT_INODE, name: '', uid: 0, gid: 0, links: 1, version: seq }
    this.setInode(ROOT_INODE, { ...emptyDirectory(), ...times, ...place })
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

  /** The names in a directory, in order, from one on. */
  *entries(directory: number, from = ''): Generator<NamedEntry> {
    for (const { sub, value } of this.tree.inGroup(groupOf(directory, kinds.entry), from)) {
      if (typeof sub === 'string' && 'inode' in value) yield { name: sub, ...value }
    }
  }

  /** Some names in a directory, in order, behind one. */
  namesAfter(directory: number, last: string | undefined, limit: number): NamedEntry[] {
    const { subs, values } = this.tree.slice(groupOf(directory, kinds.entry), last ?? '', limit + 1)
    const names: NamedEntry[] = []
    for (let index = last === subs[0] ? 1 : 0; index < subs.length && names.length < limit; index++) {
      const [name, value] = [subs[index], values[index]]
      if (typeof name === 'string' && value !== undefined && 'inode' in value)
        names.push({ name, type: value.type, inode: value.inode })
    }
    return names
  }

  hasEntries(directory: number): boolean {
    return this.tree.slice(groupOf(directory, kinds.entry), '', 1).subs.length > 0
  }

  chunk(number: number, index: number): BlobRef | undefined {
    const value = this.tree.get(groupOf(number, kinds.chunk), index)
    return value !== undefined && 'blob' in value ? value : undefined
  }

  /** A chunk of size 0 is a hole: nothing is kept of it. */
  setChunks(number: number, first: number, chunks: readonly BlobRef[]): void {
    for (const [index, chunk] of chunks.entries())
      if (chunk.size > 0) this.tree.set(groupOf(number, kinds.chunk), first + index, chunk)
  }

  removeChunk(number: number, index: number): void {
    this.tree.delete(groupOf(number, kinds.chunk), index)
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

  /** The path with its links followed. A tree without any need not look for them. */
  resolve(path: string, followLast: boolean, op: string): string {
    if (this.counters().symlinks === 0) return path
    return resolveLinksSync(path, followLast, op, (at) => {
      const number = this.find(at)
      const inode = number === undefined ? undefined : this.inode(number)
      return inode?.type === 'symlink' ? inlineText(inode.content) : null
    })
  }

  /** Where an inode is now: its path, or its first one if it has several. */
  pathOf(number: number): string {
    const names: string[] = []
    for (let at = number; at !== ROOT_INODE; ) {
      const { parent, name } = this.inode(at)
      names.push(name)
      at = parent
    }
    return `/${names.reverse().join('/')}`
  }

  counters(): Counters {
    const value = this.tree.get(groupOf(VAULT_INODE, kinds.meta), COUNTERS)
    if (value !== undefined && 'nextInode' in value) return value
    return value instanceof Uint8Array ? decodeCounters(value) : noFiles
  }

  setCounters(counters: Counters): void {
    this.tree.set(groupOf(VAULT_INODE, kinds.meta), COUNTERS, counters)
  }

  touch(directory: number, { time }: Moment): void {
    this.setInode(directory, { ...this.inode(directory), mtime: time, ctime: time })
  }
}

export function emptyDirectory(mode: number = DIRECTORY_MODE): Omit<NewInode, 'uid' | 'gid'> {
  return { type: 'directory', mode, size: 0, content: new Uint8Array(0) }
}

export function inlineText(content: ContentRef): string {
  return content instanceof Uint8Array ? Buffer.from(content).toString() : ''
}

/** What the protocol tells of an inode. */
export function statOf({ type, size, mtime, mode }: Inode): Stat {
  const time = mtime.seconds * 1000 + Math.floor(mtime.nanos / 1e6)
  return { type, size: type === 'directory' ? 0 : size, mtime: new Date(time), mode: mode & 0o7777 }
}
