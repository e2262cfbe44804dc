import { assertContent } from '../assert-content.ts'
import { Backend } from '../backend.ts'
import { VfsError } from '../error.ts'
import type {
  CallContext,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  MkdirOptions,
  ReadOptions,
  RemoveOptions,
  Stat,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from '../file-system.ts'
import { ancestors, checkPath } from '../path.ts'
import type {
  Appendable,
  Attributed,
  ContentAddressed,
  Diffable,
  Forkable,
  HardLinkable,
  InodeIdentity,
  Linkable,
  Match,
  PathChange,
  RealpathOptions,
  Renamable,
  RenameOptions,
  Searchable,
  SearchQuery,
  StatChanges,
} from '../protocols.ts'
import { ReadyStream } from '../ready-stream.ts'
import { nextTurn } from '../runtime.ts'
import { compileQuery, mayMatch, searchSteps } from '../search.ts'
import { byteStream, collect, copyBytes } from '../streams.ts'
import type { SyncFileSystem, Synchronous } from '../sync-file-system.ts'
import { shareBytes } from './memory-content.ts'
import { MemoryFiles } from './memory-files.ts'
import { MemorySync } from './memory-sync.ts'
import { toStat } from './nodes.ts'
import { listTree, TreeCursor, walkTree } from './tree-cursor.ts'
import { diffSnapshots } from './tree-diff.ts'

/** Bytes that a search reads before it yields. */
const SEARCH_YIELD_BYTES = 4 * 1024 * 1024
/** Cost of a file in addition to its content, so that empty files count too. */
const SEARCH_FILE_COST_BYTES = 512

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
  'fork',
  'rename',
  'link',
  'hardlink',
  'setattr',
  'sync',
  'append',
  'search',
  'hash',
  'diff',
])

/** Options of `MemoryFs`. */
export interface MemoryFsOptions {
  /** The clock for modification times, in milliseconds. */
  readonly now?: () => number
}

/**
 * Files in memory. Forks in constant time. Listings and walks show one moment, unaffected by later writes.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'one\n' })
 * const fork = fs.fork()
 * await fork.write('/a.txt', 'two\n')
 * assert.equal(await readText(fs, '/a.txt'), 'one\n')
 * ```
 */
export class MemoryFs
  extends Backend
  implements
    Forkable,
    Renamable,
    Linkable,
    HardLinkable,
    Attributed,
    Synchronous,
    Appendable,
    Searchable,
    ContentAddressed,
    Diffable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #now: () => number
  #files: MemoryFiles
  #sync: MemorySync | undefined

  /** @param seed content by path. EINVAL for an invalid path, the root, one file twice, or a file below another file. */
  constructor(
    seed: Readonly<Record<string, string | Uint8Array>> = {},
    { now = Date.now }: MemoryFsOptions = {},
  ) {
    super()
    this.#now = now
    this.#files = new MemoryFiles(now)
    for (const [path, content] of parseSeed(seed)) this.#files.store(path, content, {})
  }

  get sync(): SyncFileSystem {
    this.#sync ??= new MemorySync(this.#files)
    return this.#sync
  }

  fork(): MemoryFs {
    const fork = new MemoryFs({}, { now: this.#now })
    fork.#files = this.#files.fork()
    return fork
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (mutation) =>
      this.#files.rename(mutation.path, mutation.to, options, mutation.ctx),
    )
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, (mutation) =>
      this.#files.symlink(target, mutation.path, mutation.ctx),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => this.#files.readlink(checked, inner))
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      this.#files.resolve(checked, followLast, 'realpath', inner),
    )
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, (mutation) =>
      this.#files.link(mutation.path, mutation.to, mutation.ctx),
    )
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked, inner) =>
      this.#files.identity(this.#files.getNode(checked, 'identity', false, inner)),
    )
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, (mutation) =>
      this.#files.setattr(mutation.path, changes, mutation.ctx),
    )
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (mutation) => {
      const more = collect(mutation.content)
      return more instanceof Promise
        ? more.then((bytes) => this.#files.append(mutation.path, bytes, mutation.ctx))
        : this.#files.append(mutation.path, more, mutation.ctx)
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search(checked, query, inner))
  }

  diffFrom(before: FileSystem): AsyncIterable<PathChange> | null {
    if (!(before instanceof MemoryFs)) return null
    const changes = diffSnapshots(before.#files.snapshot(false), this.#files.snapshot(false)).values()
    return new ReadyStream(() => changes.next().value)
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) =>
      this.#files.hash(checked, this.#files.getFile(checked, 'hash', inner)),
    )
  }

  protected override async doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#files.find(path, false, 'exists', ctx) !== undefined
  }

  protected doStat(path: string, ctx?: CallContext): Stat {
    return toStat(this.#files.getNode(path, 'stat', false, ctx))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const { shared } = this.#files.snapshot(false)
    return listTree(this.#files.getDirectory(path, 'readdir', ctx), shared)
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return byteStream(shareBytes(this.#files.getFile(path, 'read', ctx).content), path, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    const { shared } = this.#files.snapshot(false)
    const node = this.#files.find(root, true, 'walk', ctx)
    return node?.type === 'directory'
      ? walkTree(node, shared, root, options)
      : new ReadyStream<WalkEntry>(() => undefined)
  }

  /**
   * Checks nothing: `ifMatch` is compared as the content is stored. A stream may take long, and a link may lead to a file
   * that is being written.
   */
  protected override async assertMatch(): Promise<void> {}

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): void | Promise<void> {
    const bytes = collect(content)
    return bytes instanceof Promise
      ? bytes.then((whole) => this.#files.store(path, whole, options, ctx))
      : this.#files.store(path, bytes, options, ctx)
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    this.#files.mkdir(path, options, ctx)
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#files.remove(path, options, ctx)
  }

  async *#search(root: string, query: SearchQuery, ctx?: CallContext): AsyncGenerator<Match> {
    const compiled = compileQuery(query)
    const { shared } = this.#files.snapshot(true)
    const start = this.#files.getNode(root, 'search', true, ctx)
    if (start.type === 'file') {
      for (const step of searchSteps(root, start.content.bytes, compiled)) {
        if (step === null) await compiled.yielder.yield(ctx?.signal)
        else yield step
      }
    }
    if (start.type !== 'directory') return
    let bytesThisTurn = 0
    const cursor = new TreeCursor(start, shared, root)
    for (let node = cursor.next(); node !== undefined; node = cursor.next()) {
      if (node.type !== 'file') continue
      // Checked first and without `yield*`, which would await in an async generator for every file without a match.
      if (mayMatch(node.content.bytes, compiled)) {
        for (const step of searchSteps(cursor.path, node.content.bytes, compiled)) {
          if (step === null) await compiled.yielder.yield(ctx?.signal)
          else yield step
        }
      }
      bytesThisTurn += node.size + SEARCH_FILE_COST_BYTES
      if (bytesThisTurn < SEARCH_YIELD_BYTES) continue
      bytesThisTurn = 0
      await nextTurn()
      ctx?.signal?.throwIfAborted()
    }
  }
}

function parseSeed(seed: Readonly<Record<string, string | Uint8Array>>): [string, Uint8Array][] {
  const files = new Map(Object.entries(seed).map(([path, content]) => [checkPath(path, 'seed'), content]))
  const createError = (path: string, detail: string) => new VfsError('EINVAL', path, { op: 'seed', detail })
  if (files.size < Object.keys(seed).length)
    throw createError('/', 'two seed paths name the same file; keep one')
  if (files.has('/')) throw createError('/', 'the root is a directory; seed a path below it')
  for (const path of files.keys()) {
    const parentFile = ancestors(path).find((above) => files.has(above))
    if (parentFile) throw createError(path, `the seed also has '${parentFile}' as a file; remove one of them`)
  }
  return [...files].map(([path, content]) => {
    assertContent(content, path, 'seed')
    return [path, copyBytes(content)]
  })
}
