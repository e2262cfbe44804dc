import type { SyncFileHandle } from '../../vfs/index.ts'

/**
 * The part of Emscripten's file system that a mount needs. Its published types omit the operations of nodes and
 * streams, so they are declared here as the runtime calls them.
 */
export interface EmscriptenFs {
  readonly ErrnoError: new (errno: number) => ErrnoError
  readonly FSNode: new (parent: FsNode | null, name: string, mode: number, rdev?: number) => FsNode
  isDir(mode: number): boolean
  isFile(mode: number): boolean
  isLink(mode: number): boolean
  lookupPath(
    path: string,
    options: { readonly parent?: boolean; readonly follow?: boolean; readonly follow_mount?: boolean },
  ): { node: FsNode }
  hashRemoveNode(node: FsNode): void
  mkdirTree(path: string): void
  mount(type: { mount(mount: FsMount): FsNode }, options: object, path: string): FsNode
  unmount(path: string): void
}

/** Error type of a failed operation: any other would end the interpreter. */
export interface ErrnoError {
  readonly errno: number
}

export interface FsMount {
  readonly mountpoint: string
  /** Mounts below this one. */
  mounts: readonly FsMount[]
}

/** A node of a path. The runtime caches the nodes it is given and asks `node_ops` for all others. */
export interface FsNode {
  parent: FsNode
  name: string
  readonly id: number
  mode: number
  mount: FsMount
  mounted?: FsMount | null
  node_ops?: Partial<NodeOps>
  stream_ops?: Partial<StreamOps>
}

/** An open file or directory. Copies of a descriptor are copies of this with the same fields. */
export interface FsStream {
  node: FsNode
  flags: number
  position: number
  /** Set by the mount: the file that the descriptor and its copies share. */
  opened?: OpenStreamFile
}

/** A file open under one or more descriptors. */
export interface OpenStreamFile {
  readonly handle: SyncFileHandle
  descriptors: number
}

/** Result of `stat`, as the runtime expects it. */
export interface FsAttributes {
  readonly dev: number
  readonly ino: number
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly rdev: number
  readonly size: number
  readonly blksize: number
  readonly blocks: number
  readonly atime: Date
  readonly mtime: Date
  readonly ctime: Date
}

/** Changes of `chmod`, `utime` and `truncate`; each call sets some. */
export interface FsAttributeChanges {
  readonly mode?: number
  readonly size?: number
  /** Milliseconds. */
  readonly mtime?: number | null
}

export interface NodeOps {
  getattr(node: FsNode): FsAttributes
  setattr(node: FsNode, changes: FsAttributeChanges): void
  lookup(parent: FsNode, name: string): FsNode
  mknod(parent: FsNode, name: string, mode: number): FsNode
  rename(node: FsNode, parent: FsNode, name: string): void
  unlink(parent: FsNode, name: string): void
  rmdir(parent: FsNode, name: string): void
  readdir(node: FsNode): string[]
  symlink(parent: FsNode, name: string, target: string): FsNode
  readlink(node: FsNode): string
  /** Called by `os.link` of the mount alone: the runtime has no hard links. */
  link(node: FsNode, parent: FsNode, name: string): void
}

export interface StreamOps {
  open(stream: FsStream): void
  dup(stream: FsStream): void
  close(stream: FsStream): void
  getattr(stream: FsStream): FsAttributes
  setattr(stream: FsStream, changes: FsAttributeChanges): void
  llseek(stream: FsStream, offset: number, whence: number): number
  read(
    stream: FsStream,
    buffer: Int8Array | Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number
  write(
    stream: FsStream,
    buffer: Int8Array | Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number
  mmap(stream: FsStream, length: number, position: number, prot: number, flags: number): Mapping
  msync(stream: FsStream, buffer: Uint8Array, offset: number, length: number): number
  fsync(stream: FsStream): number
}

/** Memory of the interpreter that holds part of a file. */
export interface Mapping {
  readonly ptr: number
  readonly allocated: boolean
}
