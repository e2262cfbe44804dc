import {
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  collect,
  type DirEntry,
  type FileHandle,
  isVfsError,
  isWithin,
  type Openable,
  type OpenOptions,
  type ReadOptions,
  type Stat,
  VfsError,
  type WriteOptions,
} from '../../vfs/index.ts'
import type { DaemonClient } from './daemon-client.ts'
import { DaemonHandle } from './daemon-handle.ts'

const READ_CHUNK_BYTES = 64 * 1024

/** The devices of a daemon below a path (`/dev`, `/proc`), as a mountable file system. */
export class DaemonFiles extends Backend implements Openable {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'open'])
  readonly #root: string
  readonly #connect: () => Promise<DaemonClient>

  /**
   * @param connect returns a client whenever one is needed.
   */
  constructor(root: string, connect: () => Promise<DaemonClient>) {
    super()
    this.#root = root
    this.#connect = connect
  }

  open(path: string, { write = false }: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (at) => this.#open(at, write, ctx))
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    // Known without a daemon, so that listing a sibling starts none.
    if (path === '/') return { type: 'directory', size: 0, mtime: new Date(0), mode: null }
    const { mtime, ...stat } = await this.#withMountPaths((client) =>
      client.call('stat', { path: this.#toDaemonPath(path) }, ctx?.signal),
    )
    return { ...stat, mtime: new Date(mtime) }
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    yield* await this.#withMountPaths((client) =>
      client.call('ls', { path: this.#toDaemonPath(path) }, ctx?.signal),
    )
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return byteStream((start, length) => this.#readRange(path, start, length, ctx), path, options)
  }

  /** A device has no version: ENOTSUP for `ifMatch`. */
  protected override async doWrite(
    path: string,
    content: Content,
    { ifMatch }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    if (ifMatch !== undefined) {
      const detail = 'a device has no version to compare; write without ifMatch'
      throw new VfsError('ENOTSUP', path, { op: 'write', detail })
    }
    const bytes = await collect(content)
    await using handle = await this.#open(path, true, ctx)
    await handle.write(0, bytes)
  }

  /** Reads a device from its beginning, and skips the bytes before the range. */
  async *#readRange(
    path: string,
    start: number,
    length: number,
    ctx: CallContext | undefined,
  ): AsyncGenerator<Uint8Array> {
    if ((await this.doStat(path, ctx)).type === 'directory')
      throw new VfsError('EISDIR', path, { op: 'read' })
    await using handle = await this.#open(path, false, ctx)
    const end = start + length
    for (let position = 0; position < end; ) {
      const bytes = await handle.read(position, Math.min(READ_CHUNK_BYTES, end - position))
      if (bytes.length === 0) return
      yield bytes.subarray(Math.max(0, start - position))
      position += bytes.length
    }
  }

  #open(path: string, write: boolean, ctx: CallContext | undefined): Promise<DaemonHandle> {
    return this.#withMountPaths(async (client) => {
      const handle = await client.call('open', { path: this.#toDaemonPath(path), write }, ctx?.signal)
      return new DaemonHandle(client, handle, path)
    })
  }

  /** Removes the root from the path of an error: the daemon has whole paths, and the mount table adds its own prefix. */
  async #withMountPaths<Result>(work: (client: DaemonClient) => Promise<Result>): Promise<Result> {
    try {
      return await work(await this.#connect())
    } catch (error) {
      if (!isVfsError(error) || !isWithin(error.path, this.#root)) throw error
      throw VfsError.withPath(error, error.path.slice(this.#root.length) || '/')
    }
  }

  #toDaemonPath(path: string): string {
    return path === '/' ? this.#root : `${this.#root}${path}`
  }
}
