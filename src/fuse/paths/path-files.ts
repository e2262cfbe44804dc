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

/** What is open of a file, and what was changed of it. */
interface OpenNode {
  openings: number
  writers: number
  draft: WriteBuffer | undefined
  /** What was known of it when it lost its name; it is nowhere in the file system then. */
  orphan: Stat | undefined
  turn: Promise<unknown>
}

/**
 * The files of a file system as a kernel has them open: read in parts, changed in memory, stored when they are
 * flushed. What was opened stays readable after its name is gone.
 */
export class PathFiles {
  readonly fs: FileSystem
  readonly table: NodeTable = new NodeTable()
  readonly #ctx: CallContext
  readonly #onStored: (node: PathNode) => void
  readonly #nodes = new Map<PathNode, OpenNode>()

  /** @param onStored hears of each file whose content was replaced. */
  constructor(fs: FileSystem, ctx: CallContext, onStored: (node: PathNode) => void) {
    this.fs = fs
    this.#ctx = ctx
    this.#onStored = onStored
  }

  /** The context of one request. */
  context(signal: AbortSignal): CallContext {
    return { ...this.#ctx, signal }
  }

  /** What is known of a node, with what was changed and is not stored. ENOENT. */
  async stat(node: PathNode, ctx: CallContext): Promise<Stat> {
    const open = this.#nodes.get(node)
    const stat = open?.orphan ?? (await this.fs.stat(this.table.getPath(node), ctx))
    const draft = open?.draft
    if (draft === undefined) return stat
    return { ...stat, size: draft.size, ...(draft.isDirty && { mtime: new Date() }) }
  }

  isOrphan(node: PathNode): boolean {
    return this.#nodes.get(node)?.orphan !== undefined
  }

  /** What opening a node leads to. */
  createOpenFile(node: PathNode, isWriter: boolean): OpenPathFile {
    return new OpenPathFile(node, isWriter, this.fs, () => this.table.getPath(node), this.#ctx)
  }

  /** Whoever will write learns now whether that is allowed, not when everything is written. */
  async assertWritable(node: PathNode, ctx: CallContext): Promise<void> {
    if (!this.isOrphan(node)) await assertWritable(this.fs, this.table.getPath(node), ctx)
  }

  /** The kernel is about to be told that a file is open; it is emptied if that was asked for. */
  addOpening({ node, isWriter }: OpenPathFile, truncates: boolean): void {
    const open = this.#openNode(node)
    open.openings++
    if (isWriter) open.writers++
    if (truncates) void this.#runInOrder(open, () => this.#truncateDraft(open))
  }

  read(
    file: OpenPathFile,
    position: number,
    length: number,
    ctx: CallContext,
  ): Uint8Array | Promise<Uint8Array> {
    const draft = this.#nodes.get(file.node)?.draft
    return draft?.read(position, length) ?? file.read(position, length, ctx)
  }

  /** Keeps bytes until the file is flushed. EFBIG. */
  write({ node }: OpenPathFile, position: number, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => (await this.#getDraft(node, open, ctx)).write(position, bytes))
  }

  /**
   * Adds bytes to the end of the file: at once where the file system can, so that nobody else's are in the way, and else
   * to whatever is there when it is flushed. EFBIG.
   */
  append({ node }: OpenPathFile, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => {
      if (open.orphan === undefined && (await this.#appendNow(node, open, bytes, ctx))) return
      const draft = await this.#getDraft(node, open, ctx)
      draft.append(bytes)
    })
  }

  /** Sets a size: of an open file until it is flushed, of any other at once. */
  truncate(node: PathNode, size: number, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#runInOrder(open, async () => {
      if (size === 0) this.#truncateDraft(open)
      else (await this.#getDraft(node, open, ctx)).truncate(size)
      if (open.writers > 0) return
      await this.#store(node, open, ctx)
      this.#releaseUnused(node, open)
    })
  }

  /**
   * Sets permissions, for which a file has to be written anew. Where that cannot be done, more of them are not given
   * and nobody minds; that fewer cannot be given is ENOTSUP.
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

  /** Stores what was changed. */
  async flush(node: PathNode, ctx: CallContext): Promise<void> {
    const open = this.#nodes.get(node)
    if (open !== undefined) await this.#runInOrder(open, () => this.#store(node, open, ctx))
  }

  /** One opening less. What could not be stored before is tried once more. */
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

  /** Takes a name away. What is open of it is read before, since afterwards it is nowhere. */
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
      await this.#getDraft(node, open, ctx)
      await change()
      open.orphan = stat
    })
  }

  /** Stores what is not, of everything at or below a path. */
  async flushBelow(path: string, ctx: CallContext): Promise<void> {
    for (const [node, open] of this.#nodes) {
      if (open.draft?.isDirty && open.orphan === undefined && isWithin(this.table.getPath(node), path))
        await this.flush(node, ctx)
    }
  }

  /** Stores everything that is not, as far as that goes. */
  async close(): Promise<void> {
    const all = [...this.#nodes.keys()].map((node) => this.flush(node, this.#ctx))
    await Promise.allSettled(all)
  }

  #openNode(node: PathNode): OpenNode {
    let open = this.#nodes.get(node)
    if (open === undefined) {
      open = { openings: 0, writers: 0, draft: undefined, orphan: undefined, turn: Promise.resolve() }
      this.#nodes.set(node, open)
    }
    return open
  }

  /** Changes of a file and its storing come one after the other. */
  #runInOrder<T>(open: OpenNode, work: () => T | Promise<T>): Promise<T> {
    const done = open.turn.then(work)
    open.turn = done.catch(() => {})
    return done
  }

  #truncateDraft(open: OpenNode): void {
    if (open.draft === undefined) open.draft = WriteBuffer.createEmpty()
    else open.draft.truncate(0)
  }

  async #getDraft(node: PathNode, open: OpenNode, ctx: CallContext): Promise<WriteBuffer> {
    open.draft ??= WriteBuffer.from(await readFile(this.fs, this.table.getPath(node), {}, ctx))
    return open.draft
  }

  /** False where the file system, or the part of it the file is in, cannot append. */
  async #appendNow(node: PathNode, open: OpenNode, bytes: Uint8Array, ctx: CallContext): Promise<boolean> {
    if (!isAppendable(this.fs)) return false
    await this.#store(node, open, ctx)
    try {
      await this.fs.append(this.table.getPath(node), bytes, ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOTSUP')) return false
      throw error
    }
    // What others appended meanwhile is in the file, and not in it.
    open.draft = undefined
    return true
  }

  async #store(node: PathNode, open: OpenNode, ctx: CallContext): Promise<void> {
    if (open.orphan !== undefined || !open.draft?.isDirty) return
    await open.draft.store(this.#createDraftStore(node, ctx))
    this.#onStored(node)
  }

  #createDraftStore(node: PathNode, ctx: CallContext): WriteBufferStore {
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

  /** Without writers what the file system has counts again; without openings nothing is kept. */
  #releaseUnused(node: PathNode, open: OpenNode): void {
    if (open.writers === 0 && open.orphan === undefined) open.draft = undefined
    if (open.openings === 0) this.#nodes.delete(node)
  }
}
