import { assertFileSystem } from './assert-file-system.ts'
import { CheckedFileSystem } from './checked-file-system.ts'
import type {
  CallContext,
  Capability,
  DirEntry,
  FileSystem,
  MaterializeOptions,
  ReadOptions,
  Stat,
  WalkEntry,
  WalkOptions,
} from './file-system.ts'
import { grep } from './helpers/grep.ts'
import { hash } from './helpers/hash.ts'
import {
  type ContentAddressed,
  type Forkable,
  type HardLinkable,
  type InodeIdentity,
  isForkable,
  isHardLinkable,
  isLinkable,
  type Linkable,
  type Match,
  type RealpathOptions,
  type Searchable,
  type SearchQuery,
} from './protocols.ts'
import { ReadOnlySync } from './read-only-sync.ts'
import { requireProtocol } from './require-protocol.ts'
import type { SyncFileSystem, Synchronous } from './sync-file-system.ts'

const READING_CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'native-walk',
  'native-read',
  'lazy',
  'fork',
  'link',
  'hardlink',
  'sync',
  'search',
  'hash',
])

/**
 * Wraps a file system and rejects every mutation with EROFS.
 *
 * @example
 * ```ts
 * const fs = new ReadOnlyFs(new MemoryFs())
 * await assert.rejects(fs.write('/a.txt', 'a'), { code: 'EROFS' })
 * ```
 */
export class ReadOnlyFs
  extends CheckedFileSystem
  implements Forkable, Linkable, HardLinkable, Synchronous, Searchable, ContentAddressed
{
  readonly #inner: FileSystem
  #sync: ReadOnlySync | undefined

  constructor(inner: FileSystem) {
    super()
    assertFileSystem(inner, '/', 'read-only')
    this.#inner = inner
  }

  get capabilities(): ReadonlySet<Capability> {
    return this.#inner.capabilities.intersection(READING_CAPABILITIES)
  }

  get sync(): SyncFileSystem {
    this.#sync ??= new ReadOnlySync(this.#inner)
    return this.#sync
  }

  fork(): ReadOnlyFs {
    return new ReadOnlyFs(requireProtocol(this.#inner, isForkable, 'fork', '/').fork())
  }

  symlink(_target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, () => {})
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) =>
      requireProtocol(this.#inner, isLinkable, 'readlink', checked).readlink(checked, inner),
    )
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      isLinkable(this.#inner) ? this.#inner.realpath(checked, options, inner) : checked,
    )
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, () => {})
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked, inner) =>
      requireProtocol(this.#inner, isHardLinkable, 'identity', checked).identity(checked, inner),
    )
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => grep(this.#inner, checked, query, inner))
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) => hash(this.#inner, checked, inner))
  }

  protected doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#inner.exists(path, ctx)
  }

  protected doStat(path: string, ctx?: CallContext): Promise<Stat> {
    return this.#inner.stat(path, ctx)
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return this.#inner.readdir(path, ctx)
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return this.#inner.read(path, options, ctx)
  }

  protected doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return this.#inner.walk(root, options, ctx)
  }

  protected doMaterialize(options: MaterializeOptions, ctx?: CallContext): Promise<void> {
    return this.#inner.materialize(options, ctx)
  }

  // `mutate` rejects these first, because the write capability is missing.
  protected doWrite(): void {}
  protected doMkdir(): void {}
  protected doRemove(): void {}
}
