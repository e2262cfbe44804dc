import { Mutex } from '../../machine/index.ts'
import {
  type Appendable,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  collect,
  type DirEntry,
  type FileSystem,
  type MkdirOptions,
  type ReadOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Stat,
  VfsError,
  type WriteOptions,
} from '../../vfs/index.ts'
import type { StorageBackend } from './storage-backend.ts'
import { callStorage } from './storage-errors.ts'
import { StorageTree } from './storage-tree.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir', 'append', 'rename'])
const EPOCH = new Date(0)

/**
 * Adapts plain storage to a file system. It checks paths and types, creates parents, serialises changes, removes and
 * moves trees, compares versions, and converts errors to `VfsError`s.
 */
export function fromStorage(storage: StorageBackend): FileSystem & Appendable & Renamable {
  return new StorageFs(storage)
}

class StorageFs extends Backend implements Appendable, Renamable {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #storage: StorageBackend
  readonly #tree: StorageTree
  readonly #mutex = new Mutex()

  constructor(storage: StorageBackend) {
    super()
    this.#storage = storage
    this.#tree = new StorageTree(storage)
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (mutation) =>
      this.#store('append', mutation.path, mutation.content, true),
    )
  }

  rename(
    from: string,
    to: string,
    { overwrite = false }: RenameOptions = {},
    ctx?: CallContext,
  ): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (mutation) =>
      this.#mutex.run(() => this.#tree.rename(mutation.path, mutation.to, overwrite)),
    )
  }

  protected override doExists(path: string): boolean | Promise<boolean> {
    return path === '/' || callStorage('exists', path, () => this.#storage.exists(path))
  }

  protected async doStat(path: string): Promise<Stat> {
    const { kind, size, modified = EPOCH } = await this.#tree.metadata('stat', path)
    return { type: kind, size: kind === 'file' ? size : 0, mtime: modified, mode: null }
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    const { kind } = await this.#tree.metadata('readdir', path)
    if (kind === 'file') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    const entries = await this.#tree.list('readdir', path)
    const sorted = [...entries].sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name, kind: type } of sorted) yield { name, type }
  }

  protected async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const { kind } = await this.#tree.metadata('read', path)
    if (kind === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    yield* byteStream(await callStorage('read', path, () => this.#storage.read(path)), path, options)
  }

  protected override doWrite(
    path: string,
    content: Content,
    { parents = true }: WriteOptions,
  ): Promise<void> {
    return this.#store('write', path, content, parents)
  }

  protected override doMkdir(path: string, { parents = false }: MkdirOptions): Promise<void> {
    return this.#mutex.run(async () => {
      const kind = await this.#tree.findKind('mkdir', path)
      if (kind === 'directory' && parents) return
      if (kind !== undefined) throw new VfsError('EEXIST', path, { op: 'mkdir' })
      await this.#tree.makeParents('mkdir', path, parents)
      await callStorage('mkdir', path, () => this.#storage.mkdir(path))
    })
  }

  protected override doRemove(path: string, { recursive = false }: RemoveOptions): Promise<void> {
    return this.#mutex.run(async () => {
      const { kind } = await this.#tree.metadata('remove', path)
      if (kind === 'directory' && !recursive) throw new VfsError('EISDIR', path, { op: 'remove' })
      await this.#tree.removeTree(path, kind)
    })
  }

  /** Writes or appends. Collects the content first, so that a failing source changes nothing. */
  async #store(op: 'write' | 'append', path: string, content: Content, parents: boolean): Promise<void> {
    const bytes = await collect(content)
    await this.#mutex.run(async () => {
      if (path === '/' || (await this.#tree.findKind(op, path)) === 'directory') {
        throw new VfsError('EISDIR', path, { op })
      }
      await this.#tree.makeParents(op, path, parents)
      await callStorage(op, path, () => this.#storage[op](path, bytes))
    })
  }
}
