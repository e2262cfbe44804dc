import {
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  copyContent,
  type DirEntry,
  type ReadOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Stat,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'
import { KeyMapping } from './key-mapping.ts'
import { type ListingSource, listEntries, walkByLevel, walkFlat } from './list-entries.ts'
import { getObject } from './objects.ts'
import { rename } from './rename.ts'
import type { S3Call } from './s3-call.ts'
import { S3Connection } from './s3-connection.ts'
import { getPartSize, type S3Options } from './s3-options.ts'
import { S3Tree } from './s3-tree.ts'
import { TreeMutex } from './tree-mutex.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'native-walk',
  'native-read',
  'rename',
])

/**
 * An S3 bucket, or a prefix of one, as a file system. Nothing is cached: each call queries the server.
 *
 * Directories exist as long as they have files, or markers of other tools (keys that end with `/`). With both keys `a`
 * and `a/b`, listings show the file `a`. Keys that are no valid path (`a//b`, `a/../b`) are not shown. A write with
 * `ifMatch` is conditional on the server too, so that of two concurrent writers one gets ECONFLICT. A rename copies and
 * then removes: each file moves whole, but a directory does not move atomically.
 */
export class S3Fs extends Backend implements Renamable, AsyncDisposable {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #connection: S3Connection
  readonly #keys: KeyMapping
  readonly #tree: S3Tree
  readonly #mutex = new TreeMutex()

  constructor(options: S3Options) {
    super()
    this.#connection = new S3Connection(options.bucket, options.client)
    this.#keys = new KeyMapping(options.prefix)
    this.#tree = new S3Tree(this.#connection, this.#keys, getPartSize(options))
  }

  rename(
    from: string,
    to: string,
    { overwrite = false }: RenameOptions = {},
    ctx?: CallContext,
  ): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (mutation) => {
      const bucket = { connection: this.#connection, keys: this.#keys, tree: this.#tree }
      const { path, to } = mutation
      const paths = path === to ? [path] : [path, to]
      return this.#mutex.run(paths, () =>
        rename(bucket, to, overwrite, createCall('rename', path, mutation.ctx)),
      )
    })
  }

  /** Closes the client if it was created here. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close()
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const found = await this.#tree.find(path, createCall('stat', path, ctx))
    if (found === undefined) throw new VfsError('ENOENT', path, { op: 'stat' })
    return found
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const source = this.#createSource('readdir', path, ctx)
    const throwMissing = async () => {
      if (path === '/') return
      const found = await this.#tree.find(path, source.call)
      throw new VfsError(found?.type === 'file' ? 'ENOTDIR' : 'ENOENT', path, { op: 'readdir' })
    }
    for await (const { name, stat } of listEntries(source, path, throwMissing))
      yield { name, type: stat.type }
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const call = createCall('read', path, ctx)
    return byteStream((start, length) => this.#bytes(start, length, call), path, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false } = options
    const source = this.#createSource('walk', root, ctx)
    if (maxDepth === Number.POSITIVE_INFINITY) return walkFlat(source, root, includeDirs)
    return walkByLevel(source, root, maxDepth, includeDirs)
  }

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const owned = copyContent(content)
    return this.#mutex.run([path], () => this.#tree.write(owned, options, createCall('write', path, ctx)))
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    const { recursive = false } = options
    return this.#mutex.run([path], () => this.#tree.remove(path, recursive, createCall('remove', path, ctx)))
  }

  /** Checks nothing: the write compares `ifMatch`, and knows the version of the content that it compared. */
  protected override assertMatch(): void {}

  async *#bytes(start: number, length: number, call: S3Call): AsyncGenerator<Uint8Array> {
    const { path } = call
    const key = this.#keys.toKey(path)
    const fetched =
      path === '/' ? undefined : await getObject(this.#connection, key, [start, Math.max(length, 1)], call)
    if (fetched === undefined) {
      const found = await this.#tree.find(path, call)
      throw new VfsError(found === undefined ? 'ENOENT' : 'EISDIR', path, { op: 'read' })
    }
    if (length > 0) yield* fetched.bytes
    else for await (const _ of fetched.bytes) break
  }

  #createSource(op: string, path: string, ctx: CallContext | undefined): ListingSource {
    return { connection: this.#connection, keys: this.#keys, call: createCall(op, path, ctx) }
  }
}

function createCall(op: string, path: string, ctx: CallContext | undefined): S3Call {
  return { op, path, signal: ctx?.signal }
}
