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

export interface InodeChanges {
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly size?: number
  readonly atime?: InodeTime | 'now'
  readonly mtime?: InodeTime | 'now'
}

/** Owner and permissions of a new inode. */
interface InodeOwner {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

export interface InodeEntry {
  readonly name: string
  readonly type: FileType
  readonly inode: number
}

/** Appended bytes and their position. */
export interface InodeAppend {
  readonly position: number
  readonly bytes: Buffer
}

interface InodeSpace {
  readonly blockSize: number
  readonly blocks: number
  readonly freeBlocks: number
  readonly files: number
  readonly freeFiles: number
  readonly nameBytes: number
}

/**
 * The file system interface of a kernel: inodes by number, the root is 1. Calls are synchronous and throw a VfsError.
 * The kernel checks permissions. A vault's `PosixFiles` implements it.
 */
export interface InodeFs {
  /** Commits the changes made in `work` together; runs it again after a conflicting commit. */
  batch(work: () => void): void
  lookup(parent: number, name: string): number | undefined
  getParent(ino: number): number
  getattr(ino: number): InodeAttributes
  setattr(ino: number, changes: InodeChanges): void
  /** Returns entries after a name in a fixed order; none at the end. */
  readdir(ino: number, after?: string, limit?: number): readonly InodeEntry[]
  create(parent: number, name: string, owner: InodeOwner): number
  mkdir(parent: number, name: string, owner: InodeOwner): number
  mknod(parent: number, name: string, owner: InodeOwner, rdev?: number): number
  symlink(parent: number, name: string, target: string, owner: Omit<InodeOwner, 'mode'>): number
  /** Creates an unnamed file with one open reference. */
  tmpfile(parent: number, owner: InodeOwner): number
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
  /** Keeps the inode, named or not, until an equal number of releases. */
  open(ino: number): void
  release(ino: number, times?: number): void
  read(ino: number, position: number, length: number): Uint8Array
  write(ino: number, position: number, bytes: Uint8Array): void
  /**
   * Appends at the end of the file at commit time and returns that position.
   * Bytes that continue `begun` follow it directly, after appends of others.
   */
  append(ino: number, bytes: Uint8Array, begun?: InodeAppend): number
  allocate(ino: number, position: number, length: number, options?: { readonly keepSize?: boolean }): void
  punchHole(ino: number, position: number, length: number): void
  seek(ino: number, position: number, what: 'data' | 'hole'): number | null
  getxattr(ino: number, name: string): Uint8Array | undefined
  setxattr(ino: number, name: string, value: Uint8Array, mode?: 'any' | 'create' | 'replace'): void
  listxattr(ino: number): readonly string[]
  removexattr(ino: number, name: string): void
  statfs(): InodeSpace
  /** True if changes are cheap because they share a group commit. */
  readonly usesGroupCommit: boolean
  /** Changes with each uncommitted change; 0 if there is none. Uncommitted changes survive the end of the process. */
  readonly pendingVersion: number
  /** Makes all changes visible to other processes. */
  commit(): void
  /** Makes all changes survive power loss. */
  fsync(): void
}
