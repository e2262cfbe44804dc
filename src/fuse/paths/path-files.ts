import { createHash } from 'node:crypto'
import {
  type CallContext,
  Draft,
  type DraftStore,
  type FileSystem,
  isAppendable,
  isVfsError,
  isWithin,
  mayWrite,
  permissionsOf,
  readFile,
  type Stat,
  VfsError,
  type WriteOptions,
} from '../../vfs/index.ts'
import { type Node, NodeTable } from './node-table.ts'
import { OpenFile } from './open-file.ts'
import type { Place } from './place.ts'

/** What is open of a file, and what was changed of it. */
interface OpenNode {
  openings: number
  writers: number
  draft: Draft | undefined
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
  readonly #onStored: (node: Node) => void
  readonly #nodes = new Map<Node, OpenNode>()

  /** @param onStored hears of each file whose content was replaced. */
  constructor(fs: FileSystem, ctx: CallContext, onStored: (node: Node) => void) {
    this.fs = fs
    this.#ctx = ctx
    this.#onStored = onStored
  }

  /** The context of one request. */
  context(signal: AbortSignal): CallContext {
    return { ...this.#ctx, signal }
  }

  /** What is known of a node, with what was changed and is not stored. ENOENT. */
  async stat(node: Node, ctx: CallContext): Promise<Stat> {
    const open = this.#nodes.get(node)
    const stat = open?.orphan ?? (await this.fs.stat(this.table.pathOf(node), ctx))
    const draft = open?.draft
    if (draft === undefined) return stat
    return { ...stat, size: draft.size, ...(draft.isDirty && { mtime: new Date() }) }
  }

  isOrphan(node: Node): boolean {
    return this.#nodes.get(node)?.orphan !== undefined
  }

  /** What opening a node leads to. */
  fileOf(node: Node, isWriter: boolean): OpenFile {
    return new OpenFile(node, isWriter, this.fs, () => this.table.pathOf(node), this.#ctx)
  }

  /** Whoever will write learns now whether that is allowed, not when everything is written. */
  async assertWritable(node: Node, ctx: CallContext): Promise<void> {
    if (!this.isOrphan(node)) await mayWrite(this.fs, this.table.pathOf(node), ctx)
  }

  /** The kernel is about to be told that a file is open; it is emptied if that was asked for. */
  opened({ node, isWriter }: OpenFile, truncates: boolean): void {
    const open = this.#openNode(node)
    open.openings++
    if (isWriter) open.writers++
    if (truncates) void this.#inTurn(open, () => this.#emptied(open))
  }

  read(file: OpenFile, position: number, length: number, ctx: CallContext): Uint8Array | Promise<Uint8Array> {
    const draft = this.#nodes.get(file.node)?.draft
    return draft?.read(position, length) ?? file.read(position, length, ctx)
  }

  /** Keeps bytes until the file is flushed. EFBIG. */
  write({ node }: OpenFile, position: number, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#inTurn(open, async () => (await this.#draftOf(node, open, ctx)).write(position, bytes))
  }

  /**
   * Adds bytes to the end of the file: at once where the file system can, so that nobody else's are in the way, and else
   * to whatever is there when it is flushed. EFBIG.
   */
  append({ node }: OpenFile, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#inTurn(open, async () => {
      if (open.orphan === undefined && (await this.#appendNow(node, open, bytes, ctx))) return
      const draft = await this.#draftOf(node, open, ctx)
      draft.append(bytes)
    })
  }

  /** Sets a size: of an open file until it is flushed, of any other at once. */
  truncate(node: Node, size: number, ctx: CallContext): Promise<void> {
    const open = this.#openNode(node)
    return this.#inTurn(open, async () => {
      if (size === 0) this.#emptied(open)
      else (await this.#draftOf(node, open, ctx)).truncate(size)
      if (open.writers > 0) return
      await this.#store(node, open, ctx)
      this.#settle(node, open)
    })
  }

  /**
   * Sets permissions, for which a file has to be written anew. Where that cannot be done, more of them are not given
   * and nobody minds; that fewer cannot be given is ENOTSUP.
   */
  async chmod(node: Node, mode: number, ctx: CallContext): Promise<void> {
    const stat = await this.stat(node, ctx)
    const current = permissionsOf(stat)
    if (current === mode || this.isOrphan(node)) return
    const path = this.table.pathOf(node)
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
  async flush(node: Node, ctx: CallContext): Promise<void> {
    const open = this.#nodes.get(node)
    if (open !== undefined) await this.#inTurn(open, () => this.#store(node, open, ctx))
  }

  /** One opening less. What could not be stored before is tried once more. */
  async release(file: OpenFile): Promise<void> {
    const { node } = file
    const open = this.#openNode(node)
    try {
      if (file.isWriter && open.writers === 1) await this.flush(node, this.#ctx)
    } finally {
      open.openings--
      if (file.isWriter) open.writers--
      this.#settle(node, open)
      await file.close()
    }
  }

  /** Takes a name away. What is open of it is read before, since afterwards it is nowhere. */
  async withoutName(
    { parent, name, path }: Place,
    ctx: CallContext,
    change: () => Promise<void>,
  ): Promise<void> {
    const node = parent.children.get(name)
    const open = node && this.#nodes.get(node)
    if (node === undefined || open === undefined || node.type !== 'file') {
      await change()
      return
    }
    await this.#inTurn(open, async () => {
      const stat = await this.fs.stat(path, ctx)
      await this.#draftOf(node, open, ctx)
      await change()
      open.orphan = stat
    })
  }

  /** Stores what is not, of everything at or below a path. */
  async flushBelow(path: string, ctx: CallContext): Promise<void> {
    for (const [node, open] of this.#nodes) {
      if (open.draft?.isDirty && open.orphan === undefined && isWithin(this.table.pathOf(node), path))
        await this.flush(node, ctx)
    }
  }

  /** Stores everything that is not, as far as that goes. */
  async close(): Promise<void> {
    const all = [...this.#nodes.keys()].map((node) => this.flush(node, this.#ctx))
    await Promise.allSettled(all)
  }

  #openNode(node: Node): OpenNode {
    let open = this.#nodes.get(node)
    if (open === undefined) {
      open = { openings: 0, writers: 0, draft: undefined, orphan: undefined, turn: Promise.resolve() }
      this.#nodes.set(node, open)
    }
    return open
  }

  /** Changes of a file and its storing come one after the other. */
  #inTurn<T>(open: OpenNode, work: () => T | Promise<T>): Promise<T> {
    const done = open.turn.then(work)
    open.turn = done.catch(() => {})
    return done
  }

  #emptied(open: OpenNode): void {
    if (open.draft === undefined) open.draft = Draft.ofNothing()
    else open.draft.truncate(0)
  }

  async #draftOf(node: Node, open: OpenNode, ctx: CallContext): Promise<Draft> {
    open.draft ??= Draft.of(await readFile(this.fs, this.table.pathOf(node), {}, ctx))
    return open.draft
  }

  /** False where the file system, or the part of it the file is in, cannot append. */
  async #appendNow(node: Node, open: OpenNode, bytes: Uint8Array, ctx: CallContext): Promise<boolean> {
    if (!isAppendable(this.fs)) return false
    await this.#store(node, open, ctx)
    try {
      await this.fs.append(this.table.pathOf(node), bytes, ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOTSUP')) return false
      throw error
    }
    // What others appended meanwhile is in the file, and not in it.
    open.draft = undefined
    return true
  }

  async #store(node: Node, open: OpenNode, ctx: CallContext): Promise<void> {
    if (open.orphan !== undefined || !open.draft?.isDirty) return
    await open.draft.store(this.#placeOf(node, ctx))
    this.#onStored(node)
  }

  #placeOf(node: Node, ctx: CallContext): DraftStore {
    return {
      write: (content, ifMatch) => {
        const options: WriteOptions = { parents: false, ...(ifMatch !== undefined && { ifMatch }) }
        return this.fs.write(this.table.pathOf(node), content, options, ctx)
      },
      read: () =>
        readFile(this.fs, this.table.pathOf(node), {}, ctx).catch((error) => {
          if (isVfsError(error, 'ENOENT')) return null
          throw error
        }),
    }
  }

  /** Without writers what the file system has counts again; without openings nothing is kept. */
  #settle(node: Node, open: OpenNode): void {
    if (open.writers === 0 && open.orphan === undefined) open.draft = undefined
    if (open.openings === 0) this.#nodes.delete(node)
  }
}
