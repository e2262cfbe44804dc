import { createHash } from 'node:crypto'
import {
  assertWritable,
  type CallContext,
  type FileSystem,
  getPermissions,
  isAppendable,
  isVfsError,
  isWithin,
  readFile,
  type Stat,
  VfsError,
  WriteBuffer,
  type WriteBufferStore,
  type WriteOptions,
} from '../../vfs/index.ts'
import { NodeTable, type PathNode } from './node-table.ts'
import { OpenPathFile } from './open-path-file.ts'
import type { PathDentry } from './path-dentry.ts'

/** Open handles and unsaved changes of a file. */
interface OpenNode {
  openings: number
  writers: number
  buffer: WriteBuffer | undefined
  /** Last stat of a file that has lost its name; the file system no longer has it. */
  orphan: Stat | undefined
  lastTask: Promise<unknown>
}

/**
 * Open files of a kernel: read in parts, changed in memory, stored on flush.
 * An open file stays readable after its name is removed.
 */
export class PathFiles {
  readonly fs: FileSystem
  readonly table: NodeTable = new NodeTable()
  readonly #ctx: CallContext
  readonly #onStored: (node: PathNode) => void
  readonly #nodes = new Map<PathNode, OpenNode>()

  /** @param onStored called with each file whose content was replaced. */
  constructor(fs: FileSystem, ctx: CallContext, onStored: (node: PathNode) => void) {
    this.fs = fs
    this.#ctx = ctx
    this.#onStored = onStored
  }

  /** Returns the context of the calls for one request. */
  createContext(signal: AbortSignal): CallContext {
    return { ...this.#ctx, signal }
  }

  /** Returns the stat of a node, including unsaved changes. ENOENT. */
  async stat(node: PathNode, ctx: CallContext): Promise<Stat> {
    const open = this.#nodes.get(node)
    const stat = open?.orphan ?? (await this.fs.stat(this.table.getPath(node), ctx))
    const buffer = open?.buffer
    if (buffer === undefined) return stat
    return { ...stat, size: buffer.size, ...(buffer.isDirty && { mtime: new Date() }) }
  }

  isOrphan(node: PathNode): boolean {
    return this.#nodes.get(node)?.orphan !== undefined
  }

  createOpenFile(node: PathNode, isWriter: boolean): OpenPathFile {
    return new OpenPathFile(node, isWriter, this.fs, () => this.table.getPath(node), this.#ctx)
  }

  /** Throws if a file is not writable, so that an open fails and not the store after everything is written. */
  async assertWritable(node: PathNode, ctx: CallContext): Promise<void> {
    if (!this.isOrphan(node)) await assertWritable(this.fs, this.table.getPath(node), ctx)
  }

  /** Counts an open handle just before the reply, and truncates the file if requested. */
  addOpening({ node, isWriter }: OpenPathFile, truncates: boolean): void {
    const open = this.#openNode(node)
    open.openings++
    if (isWriter) open.writers++
    if (truncates) void this.#runInOrder(open, () => this.#emptyBuffer(open))
  }

  read(
    file: OpenPathFile,
    position: number,
    length: number,
    ctx: CallContext,
  ): Uint8Array | Promise<Uint8Array> {
    const buffer = this.#nodes.get(file.node)?.buffer
    return buffer?.read(position, length) ?? file.read(position, length, ctx)
  }

  /** Buffers bytes until the file is flushed. EFBIG. */
  write({ node }: OpenPathFile, position: number, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => (await this.#getBuffer(node, open, ctx)).write(position, bytes))
  }

  /**
   * Appends bytes to the file: at once if the file system can append atomically, otherwise at the next flush. EFBIG.
   */
  append({ node }: OpenPathFile, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => {
      if (open.orphan === undefined && (await this.#appendNow(node, open, bytes, ctx))) return
      const buffer = await this.#getBuffer(node, open, ctx)
      buffer.append(bytes)
    })
  }

  /** Sets the size of a file: in its write buffer while it is open for writing, otherwise at once. */
  truncate(node: PathNode, size: number, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => {
      if (size === 0) this.#emptyBuffer(open)
      else (await this.#getBuffer(node, open, ctx)).truncate(size)
      if (open.writers > 0) return
      try {
        await this.#store(node, open, ctx)
      } finally {
        // A size that could not be stored must not be shown.
        this.#releaseUnused(node, open)
      }
    })
  }

  /**
   * Sets permissions by rewriting the file. For a directory, or without stored modes, that is impossible: a mode that only
   * adds permissions is then ignored, and one that removes any fails with ENOTSUP.
   */
  async chmod(node: PathNode, mode: number, ctx: CallContext): Promise<void> {
    const stat = await this.stat(node, ctx)
    const current = getPermissions(stat)
    if (current === mode || this.isOrphan(node)) return
    const path = this.table.getPath(node)
    if (stat.mode === null || stat.type !== 'file') {
      if ((current & ~mode) === 0) return
      throw new VfsError('ENOTSUP', path, { op: 'chmod' })
    }
    await this.flush(node, ctx)
    const content = await readFile(this.fs, path, {}, ctx)
    const ifMatch = createHash('sha256').update(content).digest('hex')
    await this.fs.write(path, content, { mode, ifMatch, parents: false }, ctx)
    this.#onStored(node)
  }

  /** Stores the changes of a file. */
  async flush(node: PathNode, ctx: CallContext): Promise<void> {
    const open = this.#nodes.get(node)
    if (open !== undefined) await this.#runInOrder(open, () => this.#store(node, open, ctx))
  }

  /** Closes one handle and retries a failed store. */
  async release(file: OpenPathFile): Promise<void> {
    const { node } = file
    const open = this.#openNode(node)
    try {
      if (file.isWriter && open.writers === 1) await this.flush(node, this.#ctx)
    } finally {
      open.openings--
      if (file.isWriter) open.writers--
      this.#releaseUnused(node, open)
      await file.close()
    }
  }

  /**
   * Runs `change`, which removes or replaces a name. Reads the content of an open file first, because it is lost
   * afterwards.
   */
  async removeName(
    { parent, name, path }: PathDentry,
    ctx: CallContext,
    change: () => Promise<void>,
  ): Promise<void> {
    const node = parent.children.get(name)
    const open = node && this.#nodes.get(node)
    if (node === undefined || open === undefined || node.type !== 'file') {
      await change()
      return
    }
    await this.#runInOrder(open, async () => {
      const stat = await this.fs.stat(path, ctx)
      await this.#getBuffer(node, open, ctx)
      await change()
      open.orphan = stat
    })
  }

  /** Stores the changes of all files at or below a path. */
  async flushBelow(path: string, ctx: CallContext): Promise<void> {
    for (const [node, open] of this.#nodes) {
      if (open.buffer?.isDirty && open.orphan === undefined && isWithin(this.table.getPath(node), path))
        await this.flush(node, ctx)
    }
  }

  /** Stores all changes that can be stored. */
  async close(): Promise<void> {
    const all = [...this.#nodes.keys()].map((node) => this.flush(node, this.#ctx))
    await Promise.allSettled(all)
  }

  #openNode(node: PathNode): OpenNode {
    let open = this.#nodes.get(node)
    if (open === undefined) {
      open = { openings: 0, writers: 0, buffer: undefined, orphan: undefined, lastTask: Promise.resolve() }
      this.#nodes.set(node, open)
    }
    return open
  }

  /** Serializes the changes and stores of a file. */
  #runInOrder<T>(open: OpenNode, work: () => T | Promise<T>): Promise<T> {
    const done = open.lastTask.then(work)
    open.lastTask = done.catch(() => {})
    return done
  }

  #emptyBuffer(open: OpenNode): void {
    if (open.buffer === undefined) open.buffer = WriteBuffer.createEmpty()
    else open.buffer.truncate(0)
  }

  async #getBuffer(node: PathNode, open: OpenNode, ctx: CallContext): Promise<WriteBuffer> {
    open.buffer ??= WriteBuffer.from(await readFile(this.fs, this.table.getPath(node), {}, ctx))
    return open.buffer
  }

  /** Returns false if the file system, or the mount with this file, cannot append. */
  async #appendNow(node: PathNode, open: OpenNode, bytes: Uint8Array, ctx: CallContext): Promise<boolean> {
    if (!isAppendable(this.fs)) return false
    await this.#store(node, open, ctx)
    try {
      await this.fs.append(this.table.getPath(node), bytes, ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOTSUP')) return false
      throw error
    }
    // The write buffer lacks bytes that others appended meanwhile.
    open.buffer = undefined
    return true
  }

  async #store(node: PathNode, open: OpenNode, ctx: CallContext): Promise<void> {
    if (open.orphan !== undefined || !open.buffer?.isDirty) return
    await open.buffer.store(this.#createBufferStore(node, ctx))
    this.#onStored(node)
  }

  #createBufferStore(node: PathNode, ctx: CallContext): WriteBufferStore {
    return {
      write: (content, ifMatch) => {
        const options: WriteOptions = { parents: false, ...(ifMatch !== undefined && { ifMatch }) }
        return this.fs.write(this.table.getPath(node), content, options, ctx)
      },
      read: () =>
        readFile(this.fs, this.table.getPath(node), {}, ctx).catch((error) => {
          if (isVfsError(error, 'ENOENT')) return null
          throw error
        }),
    }
  }

  /** Without writers the stored content counts again; without handles the state is dropped. */
  #releaseUnused(node: PathNode, open: OpenNode): void {
    if (open.writers === 0 && open.orphan === undefined) open.buffer = undefined
    if (open.openings === 0) this.#nodes.delete(node)
  }
}
