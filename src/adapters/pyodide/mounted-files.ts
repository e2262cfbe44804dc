import type { CallContext, SyncFileHandle, SyncFileSystem } from '../../vfs/index.ts'
import type { EmscriptenFs, FsMount, FsNode, NodeOps, StreamOps } from './emscripten.ts'
import { toErrno } from './errno.ts'
import { toMode } from './stat-attributes.ts'

const DIRECTORY = 0o040777

/** Operations that all nodes of a mount share. */
export interface MountOperations {
  readonly node: Partial<NodeOps>
  readonly stream: Partial<StreamOps>
}

/**
 * A file system as one mount of the interpreter: its nodes and their paths. Each lookup creates a node that is never
 * entered in the runtime's table of names, so nothing is cached that others may change.
 */
export class MountedFiles {
  readonly runtime: EmscriptenFs
  readonly sync: SyncFileSystem
  readonly ctx: CallContext | undefined
  /** Permission bits removed from new files and directories. */
  readonly umask: number
  /** Device number that distinguishes this mount's files from those of others. */
  device = 0
  #operations: MountOperations = { node: {}, stream: {} }
  /** A new file that the same system call will open. */
  #created: { readonly node: FsNode; readonly handle: SyncFileHandle } | undefined
  /** The last created file, now open, until its first mode is set. */
  #justCreated: FsNode | undefined
  /** The node that the runtime puts in its table after a rename. */
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

  /** Creates the root node of the mount. */
  mount(operations: MountOperations): FsNode {
    this.#operations = operations
    const root = this.#attachOperations(new this.runtime.FSNode(null, '/', DIRECTORY, 0))
    this.device = root.id
    return root
  }

  /** Runs an operation and converts its error for the runtime. Drops what the previous system call left behind. */
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

  /** Returns the path of a node in the file system. */
  getPath(node: FsNode): string {
    return node.parent === node ? '/' : this.getChildPath(node.parent, node.name)
  }

  getChildPath(parent: FsNode, name: string): string {
    const path = this.getPath(parent)
    return path === '/' ? `/${name}` : `${path}/${name}`
  }

  /** Looks up the current node of a name. */
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

  /** Stores the handle of a new file for the `open` in the same system call. */
  keepCreated(node: FsNode, handle: SyncFileHandle): void {
    this.#created = { node, handle }
  }

  /** Returns the stored handle of a new file for `open`. */
  takeCreated(node: FsNode): SyncFileHandle | undefined {
    const created = this.#created
    if (created?.node !== node) return undefined
    this.#created = undefined
    this.#justCreated = node
    return created.handle
  }

  /** True once for a created node: the system call that created it then sets its mode, less the umask. */
  takeFirstMode(node: FsNode): boolean {
    if (this.#justCreated !== node) return false
    this.#justCreated = undefined
    return true
  }

  /** Hides a node from lookups under the name that the runtime is about to enter. */
  hideRenamed(node: FsNode): void {
    node.name = '/'
    this.#renamed = node
  }

  #forget(): void {
    if (this.#renamed !== undefined) this.runtime.hashRemoveNode(this.#renamed)
    this.#renamed = undefined
    const created = this.#created
    this.#created = undefined
    created?.handle.close()
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
