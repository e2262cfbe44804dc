import type { CallContext, SyncFileHandle, SyncFileSystem } from '../../vfs/index.ts'
import type { EmscriptenFs, FsMount, FsNode, NodeOps, StreamOps } from './emscripten.ts'
import { toErrno } from './errno.ts'
import { toMode } from './stat-attributes.ts'

const DIRECTORY = 0o040777

/** How a mount's nodes are asked: one set of operations for all of them. */
export interface MountOperations {
  readonly node: Partial<NodeOps>
  readonly stream: Partial<StreamOps>
}

/**
 * A file system as one mount of the interpreter: its nodes and where they are. Nodes are made at each lookup and never
 * entered in the runtime's table of names, so nothing is remembered that somebody else may change.
 */
export class MountedFiles {
  readonly runtime: EmscriptenFs
  readonly sync: SyncFileSystem
  readonly ctx: CallContext | undefined
  /** Permission bits that new files and directories do not get. */
  readonly umask: number
  /** What tells this mount's files from another's with the same number. */
  device = 0
  #operations: MountOperations = { node: {}, stream: {} }
  /** A file that was made to be opened in the same system call. */
  #created: { readonly node: FsNode; readonly handle: SyncFileHandle } | undefined
  /** The file that was made last and is open now. */
  #justCreated: FsNode | undefined
  /** The node that the runtime puts in its table when it renames. */
  #renamed: FsNode | undefined

  constructor(
    runtime: EmscriptenFs,
    sync: SyncFileSystem,
    { ctx, umask = 0o022 }: { readonly ctx?: CallContext; readonly umask?: number },
  ) {
    this.runtime = runtime
    this.sync = sync
    this.ctx = ctx
    this.umask = umask
  }

  /** The root of the mount. */
  mount(operations: MountOperations): FsNode {
    this.#operations = operations
    const root = this.#attachOperations(new this.runtime.FSNode(null, '/', DIRECTORY, 0))
    this.device = root.id
    return root
  }

  /** Runs one operation, and throws what it fails with as the runtime knows it. */
  attempt<T>(operation: () => T): T {
    this.#forget()
    try {
      return operation()
    } catch (error) {
      throw error instanceof this.runtime.ErrnoError ? error : this.createErrnoError(toErrno(error))
    }
  }

  createErrnoError(errno: number): unknown {
    return new this.runtime.ErrnoError(errno)
  }

  /** The path of a node in the file system. */
  getPath(node: FsNode): string {
    return node.parent === node ? '/' : this.getChildPath(node.parent, node.name)
  }

  getChildPath(parent: FsNode, name: string): string {
    const path = this.getPath(parent)
    return path === '/' ? `/${name}` : `${path}/${name}`
  }

  /** What is there now under a name. */
  lookup(parent: FsNode, name: string): FsNode {
    const path = this.getChildPath(parent, name)
    const node = this.createNode(parent, name, toMode(this.sync.stat(path, this.ctx)))
    const { mounts } = parent.mount
    if (mounts.length > 0) node.mounted = findMount(mounts, `${parent.mount.mountpoint}${path}`)
    return node
  }

  createNode(parent: FsNode, name: string, mode: number): FsNode {
    return this.#attachOperations(new this.runtime.FSNode(parent, name, mode, 0))
  }

  /** Keeps a new file open for the `open` that follows in the same system call. */
  keepCreated(node: FsNode, handle: SyncFileHandle): void {
    this.#created = { node, handle }
  }

  /** The file that was made for this `open`. */
  takeCreated(node: FsNode): SyncFileHandle | undefined {
    const made = this.#created
    if (made?.node !== node) return undefined
    this.#created = undefined
    this.#justCreated = node
    return made.handle
  }

  /** Whether the system call that asks has made the node itself: nobody else has this one. */
  isJustCreated(node: FsNode): boolean {
    return this.#justCreated === node
  }

  /** Lets nobody find a node by the name that the runtime is about to enter it under. */
  hideRenamed(node: FsNode): void {
    node.name = '/'
    this.#renamed = node
  }

  #forget(): void {
    if (this.#renamed !== undefined) this.runtime.hashRemoveNode(this.#renamed)
    this.#renamed = undefined
    const made = this.#created
    this.#created = undefined
    made?.handle.close()
  }

  #attachOperations(node: FsNode): FsNode {
    node.node_ops = this.#operations.node
    node.stream_ops = this.#operations.stream
    return node
  }
}

function findMount(mounts: readonly FsMount[], mountpoint: string): FsMount | null {
  return mounts.find((mount) => mount.mountpoint === mountpoint) ?? null
}
