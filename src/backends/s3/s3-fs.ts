import {
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  type DirEntry,
  ownContent,
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
import type { Call } from './call.ts'
import { Connection } from './connection.ts'
import { Keys } from './keys.ts'
import { entriesOf, flatWalk, levelWalk, type Source } from './listing.ts'
import { fetch } from './objects.ts'
import { rename } from './rename.ts'
import { partSizeOf, type S3Options } from './s3-options.ts'
import { S3Tree } from './s3-tree.ts'
import { TreeOrder } from './tree-order.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'native-walk',
  'native-read',
  'rename',
])

/**
 * A bucket, or what is below a prefix of it, as a file system. Nothing is cached: each call asks the server.
 *
 * Directories come and go with their files, and with the markers of other tools (keys that end with `/`).
 * Where there is a key `a` and a key `a/b`, listings show the file `a`. Keys that are no path (`a//b`, `a/../b`) are not shown.
 * A write with `ifMatch` is conditional on the server too, so that of two writers anywhere one gets ECONFLICT.
 * A rename copies and then removes: each file moves whole, a directory not at one moment.
 */
export class S3Fs extends Backend implements Renamable, AsyncDisposable {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #connection: Connection
  readonly #keys: Keys
  readonly #tree: S3Tree
  readonly #changes = new TreeOrder()

  constructor(options: S3Options) {
    super()
    this.#connection = new Connection(options.bucket, options.client)
    this.#keys = new Keys(options.prefix)
    this.#tree = new S3Tree(this.#connection, this.#keys, partSizeOf(options))
  }

  rename(
    from: string,
    to: string,
    { overwrite = false }: RenameOptions = {},
    ctx?: CallContext,
  ): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (at) => {
      const place = { connection: this.#connection, keys: this.#keys, tree: this.#tree }
      const paths = at.path === at.to ? [at.path] : [at.path, at.to]
      return this.#changes.run(paths, () =>
        rename(place, at.to, overwrite, called('rename', at.path, at.ctx)),
      )
    })
  }

  /** Closes the connections of a client that was not handed over. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close()
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const found = await this.#tree.find(path, called('stat', path, ctx))
    if (found === undefined) throw new VfsError('ENOENT', path, { op: 'stat' })
    return found
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const source = this.#source('readdir', path, ctx)
    const refuse = async () => {
      if (path === '/') return
      const found = await this.#tree.find(path, source.call)
      throw new VfsError(found?.type === 'file' ? 'ENOTDIR' : 'ENOENT', path, { op: 'readdir' })
    }
    for await (const { name, stat } of entriesOf(source, path, refuse)) yield { name, type: stat.type }
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const call = called('read', path, ctx)
    return byteStream((start, length) => this.#bytes(start, length, call), path, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false } = options
    const source = this.#source('walk', root, ctx)
    if (maxDepth === Number.POSITIVE_INFINITY) return flatWalk(source, root, includeDirs)
    return levelWalk(source, root, maxDepth, includeDirs)
  }

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const owned = ownContent(content)
    return this.#changes.run([path], () => this.#tree.write(owned, options, called('write', path, ctx)))
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    const { recursive = false } = options
    return this.#changes.run([path], () => this.#tree.remove(path, recursive, called('remove', path, ctx)))
  }

  /** Left to the write, which knows of which version it has seen the content. */
  protected override assertMatch(): void {}

  async *#bytes(start: number, length: number, call: Call): AsyncGenerator<Uint8Array> {
    const { path } = call
    const key = this.#keys.of(path)
    const fetched =
      path === '/' ? undefined : await fetch(this.#connection, key, [start, Math.max(length, 1)], call)
    if (fetched === undefined) {
      const isThere = await this.#tree.find(path, call)
      throw new VfsError(isThere === undefined ? 'ENOENT' : 'EISDIR', path, { op: 'read' })
    }
    if (length > 0) yield* fetched.bytes
    else for await (const _ of fetched.bytes) break
  }

  #source(op: string, path: string, ctx: CallContext | undefined): Source {
    return { connection: this.#connection, keys: this.#keys, call: called(op, path, ctx) }
  }
}

function called(op: string, path: string, ctx: CallContext | undefined): Call {
  return { op, path, signal: ctx?.signal }
}
