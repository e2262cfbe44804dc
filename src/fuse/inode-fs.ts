import type { FileType } from '../vfs/index.ts'

export interface InodeTime {
  readonly seconds: number
  readonly nanos: number
}

/** Attributes that `stat` returns; `mode` includes the file type, as in C. */
export interface InodeAttributes {
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  /** In units of 512 bytes. */
  readonly blocks: number
  readonly atime: InodeTime
  readonly mtime: InodeTime
  readonly ctime: InodeTime
  readonly rdev: number
}

/** Attributes to set; absent ones stay. */
export interface InodeChanges {
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly size?: number
  readonly atime?: InodeTime | 'now'
  readonly mtime?: InodeTime | 'now'
}

/** Permissions and owner of a new inode. */
interface NewInode {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

export interface InodeEntry {
  readonly name: string
  readonly type: FileType
  readonly inode: number
}

/** A piece of a write that was appended, and its position. */
export interface InodeAppend {
  readonly position: number
  readonly bytes: Buffer
}

/** Space of the file system, as `statfs` returns it. */
interface InodeSpace {
  readonly blockSize: number
  readonly blocks: number
  readonly freeBlocks: number
  readonly files: number
  readonly freeFiles: number
  readonly nameBytes: number
}

/**
 * The file system that a FUSE server serves: inodes by number, the root is 1. Calls are synchronous and throw a
 * VfsError. Linux checks permissions. A vault's `PosixFiles` implements it.
 * A change survives the end of this process at once, is visible to other processes after `commit`, and survives power
 * loss after `fsync`.
 */
export interface InodeFs {
  /** Commits all changes of `work` together. Runs it again if another process committed first. */
  batch(work: () => void): void
  lookup(parent: number, name: string): number | undefined
  /** Returns the parent of a directory. */
  getParent(ino: number): number
  getattr(ino: number): InodeAttributes
  setattr(ino: number, changes: InodeChanges): void
  /** Returns up to `limit` entries after a name, in a fixed order; none at the end. */
  readdir(ino: number, after?: string, limit?: number): readonly InodeEntry[]
  create(parent: number, name: string, owner: NewInode): number
  mkdir(parent: number, name: string, owner: NewInode): number
  mknod(parent: number, name: string, owner: NewInode, rdev?: number): number
  symlink(parent: number, name: string, target: string, owner: Omit<NewInode, 'mode'>): number
  /** Creates a file without a name, opened once. */
  tmpfile(parent: number, owner: NewInode): number
  readlink(ino: number): string
  link(ino: number, parent: number, name: string): void
  unlink(parent: number, name: string): void
  rmdir(parent: number, name: string): void
  rename(
    parent: number,
    name: string,
    newParent: number,
    newName: string,
    mode?: 'replace' | 'noreplace' | 'exchange',
  ): void
  /** Keeps the inode, also without a name, until it is released as often as it was opened. */
  open(ino: number): void
  release(ino: number, times?: number): void
  read(ino: number, position: number, length: number): Uint8Array
  write(ino: number, position: number, bytes: Uint8Array): void
  /**
   * Appends at the end that the file has when this is committed; returns that position. `firstPiece` is the part of a
   * write that came in an earlier request: both parts then stay together, after what others appended meanwhile.
   */
  append(ino: number, bytes: Uint8Array, firstPiece?: InodeAppend): number
  allocate(ino: number, position: number, length: number, options?: { readonly keepSize?: boolean }): void
  punchHole(ino: number, position: number, length: number): void
  /** Returns the next position with data or in a hole; null if there is none. */
  seek(ino: number, position: number, target: 'data' | 'hole'): number | null
  getxattr(ino: number, name: string): Uint8Array | undefined
  setxattr(ino: number, name: string, value: Uint8Array, mode?: 'any' | 'create' | 'replace'): void
  listxattr(ino: number): readonly string[]
  removexattr(ino: number, name: string): void
  statfs(): InodeSpace
  /** True if small changes share a commit, so that callers need not collect them. */
  readonly usesGroupCommit: boolean
  /** 0 if everything is committed; otherwise a number that is another one after each change. */
  readonly pendingVersion: number
  /** Makes all changes visible to other processes. */
  commit(): void
  /** Makes all changes survive power loss. */
  fsync(): void
}
