import { resolveLinksSync, type Stat, VfsError } from '../../vfs/index.ts'
import { type Counters, decodeCounters, emptyCounters } from '../tree/counters.ts'
import type { Tree } from '../tree/tree.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import {
  type BlobRef,
  type ContentRef,
  type DirectoryEntry,
  type Inode,
  isSameTime,
  type Timestamp,
  type TreeValue,
} from '../tree/tree-values.ts'

export const ROOT_INODE = 1
/** Pseudo-inode of the vault itself: its counters, merge points, tagged and unlinked files. */
export const VAULT_INODE = 0
const COUNTERS_KEY = 'counters'
const DIRECTORY_MODE = 0o755

/** Fields of a new inode; the others follow from its dentry and the time. */
export type NewInode = Pick<Inode, 'type' | 'mode' | 'size' | 'content'> &
  Partial<Pick<Inode, 'uid' | 'gid' | 'atime' | 'mtime'>>

/** A name in a directory and its target. */
export type NamedEntry = { readonly name: string } & DirectoryEntry

/** Time of a mutation, and its journal row. */
export interface Moment {
  readonly time: Timestamp
  readonly seq: number
}

/**
 * Files and directories on a vault's tree: names lead to inodes, inodes hold everything else. Synchronous: it only
 * reads and changes the tree.
 */
export class VaultFiles {
  readonly tree: Tree<TreeValue>
  /** Counters as last read, since an operation reads them several times. */
  #counters: Counters = emptyCounters
  /** Number of the tree's changes at that time. */
  #countersReadAt = -1

  constructor(tree: Tree<TreeValue>) {
    this.tree = tree
  }

  /** Creates the root directory of an empty tree. */
  createRoot({ time, seq }: Moment): void {
    this.setCounters({ ...emptyCounters, nextInode: ROOT_INODE + 1 })
    const times = { atime: time, mtime: time, ctime: time }
    const fields = { parent: ROOT_INODE, name: '', uid: 0, gid: 0, links: 1, version: seq }
    this.setInode(ROOT_INODE, { ...createDirectoryFields(), ...times, ...fields })
  }

  findInode(number: number): Inode | undefined {
    const value = this.tree.get(toGroup(number, entryKinds.inode), 0)
    return value !== undefined && 'mtime' in value ? value : undefined
  }

  /** Returns an inode that must exist. EIO if it is missing. */
  getInode(number: number): Inode {
    const inode = this.findInode(number)
    if (inode !== undefined) return inode
    throw new VfsError('EIO', `inode ${number}`, { detail: `inode ${number} is missing; run fsck` })
  }

  setInode(number: number, inode: Inode): void {
    this.tree.set(toGroup(number, entryKinds.inode), 0, inode)
  }

  findEntry(directory: number, name: string): DirectoryEntry | undefined {
    const value = this.tree.get(toGroup(directory, entryKinds.entry), name)
    return value !== undefined && 'inode' in value ? value : undefined
  }

  /** Yields the names in a directory, in order, from one on. */
  *listEntries(directory: number, from = ''): Generator<NamedEntry> {
    for (const { sub, value } of this.tree.iterateGroup(toGroup(directory, entryKinds.entry), from)) {
      if (typeof sub === 'string' && 'inode' in value) yield { name: sub, ...value }
    }
  }

  /** Returns up to `limit` names in a directory, in order, after `last`. */
  listEntriesAfter(directory: number, last: string | undefined, limit: number): NamedEntry[] {
    return this.mapEntriesAfter(directory, last, limit, toNamedEntry)
  }

  /** Does what `listEntriesAfter` does, with each name as `toItem` converts it. */
  mapEntriesAfter<T>(
    directory: number,
    last: string | undefined,
    limit: number,
    toItem: (name: string, entry: DirectoryEntry) => T,
  ): T[] {
    const items: T[] = []
    for (const { leaf, start, end } of this.tree.readGroup(
      toGroup(directory, entryKinds.entry),
      last ?? '',
    )) {
      for (let index = start; index < end; index++) {
        const name = leaf.subs[index]
        const value = leaf.values[index]
        if (name === last || typeof name !== 'string' || value === undefined || !('inode' in value)) continue
        if (items.length === limit) return items
        items.push(toItem(name, value))
      }
    }
    return items
  }

  hasEntries(directory: number): boolean {
    return !this.tree.readGroup(toGroup(directory, entryKinds.entry), '').next().done
  }

  findChunk(number: number, index: number): BlobRef | undefined {
    const value = this.tree.get(toGroup(number, entryKinds.chunk), index)
    return value !== undefined && 'blob' in value ? value : undefined
  }

  /** Stores chunks; a chunk of size 0 is a hole and has no entry. */
  setChunks(number: number, first: number, chunks: readonly BlobRef[]): void {
    for (const [index, chunk] of chunks.entries())
      if (chunk.size > 0) this.tree.set(toGroup(number, entryKinds.chunk), first + index, chunk)
  }

  removeChunk(number: number, index: number): void {
    this.tree.delete(toGroup(number, entryKinds.chunk), index)
  }

  /** Removes the chunks from one on. */
  removeChunks(number: number, first = 0): void {
    const group = toGroup(number, entryKinds.chunk)
    for (const { sub } of [...this.tree.iterateGroup(group, first)]) this.tree.delete(group, sub)
  }

  /** Returns the inode at a path without following links, or undefined. */
  findByPath(path: string): number | undefined {
    let number = ROOT_INODE
    for (let start = 1; start < path.length; ) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const entry = this.findEntry(number, path.slice(start, end))
      if (entry === undefined) return undefined
      number = entry.inode
      start = end + 1
    }
    return number
  }

  /** Resolves the symlinks in a path. A tree without symlinks skips this. */
  resolveLinks(path: string, followLast: boolean, op: string): string {
    if (this.getCounters().symlinks === 0) return path
    return resolveLinksSync(path, followLast, op, (linkPath) => {
      const number = this.findByPath(linkPath)
      const inode = number === undefined ? undefined : this.getInode(number)
      return inode?.type === 'symlink' ? toInlineText(inode.content) : null
    })
  }

  /** Returns the path of an inode, or its first one if it has several. */
  getPath(number: number): string {
    const names: string[] = []
    for (let next = number; next !== ROOT_INODE; ) {
      const { parent, name } = this.getInode(next)
      names.push(name)
      next = parent
    }
    return `/${names.reverse().join('/')}`
  }

  getCounters(): Counters {
    const { changes } = this.tree
    if (this.#countersReadAt !== changes) {
      this.#counters = this.#readCounters()
      this.#countersReadAt = changes
    }
    return this.#counters
  }

  #readCounters(): Counters {
    const value = this.tree.get(toGroup(VAULT_INODE, entryKinds.meta), COUNTERS_KEY)
    if (value !== undefined && 'nextInode' in value) return value
    return value instanceof Uint8Array ? decodeCounters(value) : emptyCounters
  }

  setCounters(counters: Counters): void {
    this.tree.set(toGroup(VAULT_INODE, entryKinds.meta), COUNTERS_KEY, counters)
  }

  /** Updates a directory in which a name was added or removed; `subdirectories` is how many more of them it has. */
  touch(directory: number, { time }: Moment, subdirectories = 0): void {
    const inode = this.getInode(directory)
    const size = inode.size === 0 ? 0 : inode.size + subdirectories
    // Many operations of one millisecond change the same directory.
    if (size === inode.size && isSameTime(inode.mtime, time) && isSameTime(inode.ctime, time)) return
    this.setInode(directory, { ...inode, size, mtime: time, ctime: time })
  }
}

function toNamedEntry(name: string, { inode, type }: DirectoryEntry): NamedEntry {
  return { name, type, inode }
}

/** Returns the fields of a new directory. Its size is the number of subdirectories plus one. */
export function createDirectoryFields(mode: number = DIRECTORY_MODE): Omit<NewInode, 'uid' | 'gid'> {
  return { type: 'directory', mode, size: 1, content: new Uint8Array(0) }
}

/** Returns inline content as text; empty for content in blobs. */
export function toInlineText(content: ContentRef): string {
  return content instanceof Uint8Array ? Buffer.from(content).toString() : ''
}

/**
 * Returns the link count as POSIX has it: of a directory its own name, its `.`, and the `..` of each subdirectory.
 * 1 for a directory without a count, so that `find` infers no number of subdirectories.
 */
export function countLinks({ type, links, size }: Inode): number {
  return type === 'directory' && links > 0 && size > 0 ? size + 1 : links
}

/** Converts an inode to a `Stat`. */
export function toStat({ type, size, mtime, mode }: Inode): Stat {
  const time = mtime.seconds * 1000 + Math.floor(mtime.nanos / 1e6)
  return { type, size: type === 'directory' ? 0 : size, mtime: new Date(time), mode: mode & 0o7777 }
}
