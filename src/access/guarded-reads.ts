import {
  assertFileSystem,
  Backend,
  type CallContext,
  type Capability,
  type ContentAddressed,
  type Diffable,
  type DirEntry,
  type FileSystem,
  type InodeIdentity,
  isContentAddressed,
  isDiffable,
  isHardLinkable,
  isLinkable,
  isSearchable,
  isVersioned,
  isWatchable,
  type Match,
  type MaterializeOptions,
  type PathChange,
  type ReadOptions,
  type RealpathOptions,
  requireProtocol,
  type Searchable,
  type SearchQuery,
  type Stat,
  type Version,
  type Versioned,
  type WalkEntry,
  type WalkOptions,
  type Watchable,
} from '../vfs/index.ts'
import {
  filterReadable,
  listAllowedEntries,
  listItemPaths,
  openAllowedStream,
  streamAllowedBelow,
} from './allowed-streams.ts'
import {
  createEntryAccess,
  createTargetAccess,
  type Gate,
  type GateRequest,
  type PathAccess,
} from './gate.ts'

const UNGUARDED_CAPABILITIES: ReadonlySet<Capability> = new Set(['sync'])

/**
 * Guards the reads of a file system. A stream omits what the caller may not read; a single path it may not read is
 * EACCES.
 */
export abstract class GuardedReads
  extends Backend
  implements Searchable, ContentAddressed, Diffable, Versioned, Watchable
{
  // Private to each class, so that a holder of a guarded file system cannot reach the one below.
  readonly #fs: FileSystem
  readonly #gate: Gate

  constructor(fs: FileSystem, gate: Gate) {
    super()
    assertFileSystem(fs, '/', 'guard')
    this.#fs = fs
    this.#gate = gate
  }

  /** The capabilities of the file system below, except `sync`: checking a path is asynchronous. */
  get capabilities(): ReadonlySet<Capability> {
    return this.#fs.capabilities.difference(UNGUARDED_CAPABILITIES)
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isLinkable, 'readlink', checked)
      return this.#runRead('readlink', createEntryAccess(checked, 'read'), inner, (real, passed) =>
        fs.readlink(real, passed),
      )
    })
  }

  /** Resolves the links of a path. Needs read access: where a path leads is part of its content. */
  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isLinkable, 'realpath', checked)
      const requested = { ...createEntryAccess(checked, 'read'), followLast: options.followLast === true }
      return this.#runRead('realpath', requested, inner, (real, passed) => fs.realpath(real, options, passed))
    })
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isHardLinkable, 'identity', checked)
      return this.#runRead('identity', createEntryAccess(checked, 'read'), inner, (real, passed) =>
        fs.identity(real, passed),
      )
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isContentAddressed, 'hash', checked)
      return this.#runRead('hash', createTargetAccess(checked, 'read'), inner, (real, passed) =>
        fs.hash(real, passed),
      )
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isSearchable, 'search', checked)
      return streamAllowedBelow(this.#gate, 'search', checked, inner, (real, passed) =>
        fs.search(real, query, passed),
      )
    })
  }

  watch(path: string, ctx?: CallContext): AsyncIterable<PathChange> {
    return this.stream('watch', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isWatchable, 'watch', checked)
      return streamAllowedBelow(this.#gate, 'watch', checked, inner, (real, passed) => fs.watch(real, passed))
    })
  }

  versions(path: string, ctx?: CallContext): AsyncIterable<Version> {
    return this.stream('versions', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isVersioned, 'versions', checked)
      const request = { op: 'versions', path: checked, ctx: inner }
      return openAllowedStream(this.#gate, request, (real, passed) => fs.versions(real, passed))
    })
  }

  readVersion(path: string, version: string, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return this.stream('read', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isVersioned, 'read', checked)
      const request = { op: 'read', path: checked, ctx: inner }
      return openAllowedStream(this.#gate, request, (real, passed) => fs.readVersion(real, version, passed))
    })
  }

  /** Compares the file systems below and omits what the caller may not read. */
  diffFrom(before: FileSystem, ctx?: CallContext): AsyncIterable<PathChange> | null {
    if (!isDiffable(this.#fs)) return null
    const changes = this.#fs.diffFrom(before instanceof GuardedReads ? before.#fs : before, ctx)
    if (changes === null || this.#gate.isUnrestricted('read', ctx)) return changes
    return filterReadable(this.#gate, 'diff', changes, listItemPaths, ctx)
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    const run = (real: string, passed: CallContext | undefined) => this.#fs.exists(real, passed)
    return this.#runRead('exists', createEntryAccess(path, 'read'), ctx, run, { isLinkChecked: true })
  }

  protected doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    const run = (real: string, passed: CallContext | undefined) => this.#fs.stat(real, passed)
    return this.#runRead('stat', createEntryAccess(path, 'read'), ctx, run, { isLinkChecked: true })
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return listAllowedEntries(this.#gate, path, ctx, (real, passed) => this.#fs.readdir(real, passed))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const request = { op: 'read', path, ctx, isLinkChecked: true }
    return openAllowedStream(this.#gate, request, (real, passed) => this.#fs.read(real, options, passed))
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return streamAllowedBelow(this.#gate, 'walk', root, ctx, (real, passed) =>
      this.#fs.walk(real, options, passed),
    )
  }

  protected override doMaterialize(
    { prefix = '/' }: MaterializeOptions,
    ctx?: CallContext,
  ): void | Promise<void> {
    const requested = createTargetAccess(prefix, 'read')
    return this.#runRead('materialize', requested, ctx, (real, passed) =>
      this.#fs.materialize({ prefix: real }, passed),
    )
  }

  /** The file system below checks this: it knows the content, and what each of its mounts can do. */
  protected override assertMatch(): void {}
  protected override assertMutable(): void {}

  #runRead<T>(
    op: string,
    requested: PathAccess,
    ctx: CallContext | undefined,
    run: (path: string, ctx: CallContext | undefined) => Promise<T>,
    options: Pick<GateRequest, 'isLinkChecked'> = {},
  ): Promise<T> | T {
    if (this.#gate.isUnrestricted('read', ctx)) return run(requested.path, ctx)
    const request = { op, touches: [requested], ctx, ...options }
    return this.#gate.runIfAllowed(request, (passed, real) => run(real, passed))
  }
}
