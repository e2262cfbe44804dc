import type { FileType } from '../vfs/index.ts'

export interface InodeTime {
  readonly seconds: number
  readonly nanos: number
}

/** What `stat` tells; `mode` says the kind of file too, as in C. */
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

/** Who makes something, and with which permissions. */
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

/** Bytes that were appended, and where. */
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
 * What a kernel needs of a file system: inodes by number from the root's 1 on, each call done when it returns or
 * refused with a VfsError. Who may do what is the kernel's business. A vault's `PosixFiles` is one.
 */
export interface InodeFs {
  /** Commits what is done in `work` together; runs it again if somebody else commits first. */
  batch(work: () => void): void
  lookup(parent: number, name: string): number | undefined
  getParent(ino: number): number
  getattr(ino: number): InodeAttributes
  setattr(ino: number, changes: InodeChanges): void
  /** Entries behind a name in a fixed order; none at the end. */
  readdir(ino: number, after?: string, limit?: number): readonly InodeEntry[]
  create(parent: number, name: string, owner: InodeOwner): number
  mkdir(parent: number, name: string, owner: InodeOwner): number
  mknod(parent: number, name: string, owner: InodeOwner, rdev?: number): number
  symlink(parent: number, name: string, target: string, owner: Omit<InodeOwner, 'mode'>): number
  /** A file without a name that is open once. */
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
  /** From here on the inode stays, named or not, until it was released as often. */
  open(ino: number): void
  release(ino: number, times?: number): void
  read(ino: number, position: number, length: number): Uint8Array
  write(ino: number, position: number, bytes: Uint8Array): void
  /**
   * Writes at the end of the file as it is when that is committed; returns where that was. What continues a piece is put
   * behind it, and both behind what others appended meanwhile.
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
  /** Whether small changes cost little by themselves, since they are committed with others. */
  readonly usesGroupCommit: boolean
  /** Another number after each change, 0 if there is nothing to settle. All of it survives the end of the process. */
  readonly pendingVersion: number
  /** Lets everybody see what was done so far. */
  commit(): void
  /** Everything done so far survives power loss when it returns. */
  fsync(): void
}
