import {
  type Appendable,
  type Attributed,
  assertFileSystem,
  Backend,
  type CallContext,
  type Capability,
  type Content,
  type ContentAddressed,
  copyContent,
  type Diffable,
  type DirEntry,
  type FileHandle,
  type FileSystem,
  type Forkable,
  type HardLinkable,
  type InodeIdentity,
  isAppendable,
  isAttributed,
  isContentAddressed,
  isDiffable,
  isForkable,
  isHardLinkable,
  isLinkable,
  isOpenable,
  isRenamable,
  isSearchable,
  isVersioned,
  isVfsError,
  isWatchable,
  type Linkable,
  type Match,
  type MaterializeOptions,
  type MkdirOptions,
  type Openable,
  type OpenOptions,
  type PathChange,
  type ReadOptions,
  type RealpathOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  type Searchable,
  type SearchQuery,
  type Stat,
  type StatChanges,
  type Version,
  type Versioned,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type Watchable,
  type WriteOptions,
} from '../vfs/index.ts'
import {
  filterReadable,
  listAllowedEntries,
  listItemPaths,
  openAllowedStream,
  streamAllowedBelow,
} from './allowed-streams.ts'
import { createEntryAccess, createTargetAccess, Gate, type PathAccess } from './gate.ts'
import type { Policy } from './policy.ts'
import type { PathQuota } from './quota-zone.ts'
import { Quotas } from './quotas.ts'

export interface GuardOptions {
  /** Limits of paths. ENOSPC beyond them. */
  readonly quotas?: readonly PathQuota[]
  /** Clock for the age of a count, in milliseconds. */
  readonly now?: () => number
}

const UNGUARDED_CAPABILITIES: ReadonlySet<Capability> = new Set(['sync'])

/**
 * Guards a whole namespace: every operation must pass the policies, or fails with EACCES and the reason. The system
 * always passes.
 */
export function guard(fs: FileSystem, policies: readonly Policy[], options: GuardOptions = {}): GuardedFs {
  return new GuardedFs(fs, policies, options)
}

/**
 * A file system behind policies. It wraps a whole namespace, so that it covers every mount.
 * A move or a hard link needs access to both paths, a copy to its target. A symbolic link is checked where it is
 * and where it leads.
 * A handle is checked once, when it is opened.
 * The guard keeps the order of writes itself, since checks are asynchronous.
 */
export class GuardedFs
  extends Backend
  implements
    Forkable,
    Renamable,
    Linkable,
    HardLinkable,
    Attributed,
    Appendable,
    Openable,
    Searchable,
    ContentAddressed,
    Diffable,
    Versioned,
    Watchable
{
  readonly #fs: FileSystem
  readonly #policies: readonly Policy[]
  readonly #options: GuardOptions
  readonly #gate: Gate
  readonly #quotas: Quotas

  constructor(fs: FileSystem, policies: readonly Policy[], options: GuardOptions = {}) {
    super()
    assertFileSystem(fs, '/', 'guard')
    this.#fs = fs
    this.#policies = policies
    this.#options = options
    this.#gate = new Gate(fs, policies)
    this.#quotas = new Quotas(fs, options.quotas ?? [], options.now)
  }

  /** The capabilities of the file system below, except `sync`: checking a path is asynchronous. */
  get capabilities(): ReadonlySet<Capability> {
    return this.#fs.capabilities.difference(UNGUARDED_CAPABILITIES)
  }

  /** Forks the file system behind the same policies, with quotas of its own. */
  fork(): GuardedFs {
    return new GuardedFs(this.#requireProtocol(isForkable, 'fork', '/').fork(), this.#policies, this.#options)
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, ({ path: source, to: target, ctx: inner }) => {
      const fs = this.#requireProtocol(isRenamable, 'rename', source)
      const touches = [createEntryAccess(source, 'remove'), createEntryAccess(target, 'write')]
      return this.#gate.runIfAllowed(
        { op: 'rename', touches, ctx: inner },
        async (passed, real, realTarget) => {
          await this.#gate.assertContentsAllowed(
            'rename',
            [createEntryAccess(real, 'remove'), createEntryAccess(realTarget, 'write')],
            passed,
          )
          await this.#quotas.move({ op: 'rename', path: real, ctx: passed }, realTarget, () =>
            fs.rename(real, realTarget, options, passed),
          )
        },
      )
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked, ctx: inner }) => {
      const fs = this.#requireProtocol(isLinkable, 'symlink', checked)
      return this.#gate.runIfAllowed(
        { op: 'symlink', touches: [createEntryAccess(checked, 'write')], ctx: inner },
        (passed, real) =>
          this.#quotas.add({ op: 'symlink', path: real, ctx: passed }, () =>
            fs.symlink(target, real, passed),
          ),
      )
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isLinkable, 'readlink', checked)
      return this.#runRead('readlink', createEntryAccess(checked, 'read'), inner, (real, passed) =>
        fs.readlink(real, passed),
      )
    })
  }

  /** Needs read access: where a path leads is part of its content. */
  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isLinkable, 'realpath', checked)
      const requested = { ...createEntryAccess(checked, 'read'), followLast: options.followLast === true }
      return this.#runRead('realpath', requested, inner, (real, passed) => fs.realpath(real, options, passed))
    })
  }

  /**
   * Needs both paths, the existing one for reading too: its content can be read and written under the new name from
   * then on.
   */
  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, ({ path: source, to, ctx: inner }) => {
      const fs = this.#requireProtocol(isHardLinkable, 'link', source)
      const touches = [
        createEntryAccess(source, 'write'),
        createEntryAccess(to, 'write'),
        createEntryAccess(source, 'read'),
      ]
      return this.#gate.runIfAllowed({ op: 'link', touches, ctx: inner }, (passed, real, realName) =>
        this.#quotas.addName({ op: 'link', path: realName, ctx: passed }, real, () =>
          fs.link(real, realName, passed),
        ),
      )
    })
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isHardLinkable, 'identity', checked)
      return this.#runRead('identity', createEntryAccess(checked, 'read'), inner, (real, passed) =>
        fs.identity(real, passed),
      )
    })
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path: checked, ctx: inner }) => {
      const fs = this.#requireProtocol(isAttributed, 'setattr', checked)
      const touches = [
        changes.ofLink ? createEntryAccess(checked, 'write') : createTargetAccess(checked, 'write'),
      ]
      return this.#gate.runIfAllowed({ op: 'setattr', touches, ctx: inner }, (passed, real) =>
        fs.setattr(real, changes, passed),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (requested) => {
      const fs = this.#requireProtocol(isAppendable, 'append', requested.path)
      return this.#store('append', requested.path, requested.content, requested.ctx, (real, owned, passed) =>
        fs.append(real, owned, passed),
      )
    })
  }

  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isOpenable, 'open', checked)
      const isChange = options.write || options.create || options.truncate
      const touches = [createTargetAccess(checked, isChange ? 'write' : 'read')]
      return this.#gate.runIfAllowed({ op: 'open', touches, ctx: inner }, (passed, real) =>
        isChange
          ? this.#quotas.open({ op: 'open', path: real, ctx: passed }, options, () =>
              fs.open(real, options, passed),
            )
          : fs.open(real, options, passed),
      )
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isContentAddressed, 'hash', checked)
      return this.#runRead('hash', createTargetAccess(checked, 'read'), inner, (real, passed) =>
        fs.hash(real, passed),
      )
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isSearchable, 'search', checked)
      return streamAllowedBelow(this.#gate, 'search', checked, inner, (real, passed) =>
        fs.search(real, query, passed),
      )
    })
  }

  watch(path: string, ctx?: CallContext): AsyncIterable<PathChange> {
    return this.stream('watch', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isWatchable, 'watch', checked)
      return streamAllowedBelow(this.#gate, 'watch', checked, inner, (real, passed) => fs.watch(real, passed))
    })
  }

  versions(path: string, ctx?: CallContext): AsyncIterable<Version> {
    return this.stream('versions', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isVersioned, 'versions', checked)
      return openAllowedStream(this.#gate, 'versions', checked, inner, (real, passed) =>
        fs.versions(real, passed),
      )
    })
  }

  readVersion(path: string, version: string, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return this.stream('read', path, ctx, (checked, inner) => {
      const fs = this.#requireProtocol(isVersioned, 'read', checked)
      return openAllowedStream(this.#gate, 'read', checked, inner, (real, passed) =>
        fs.readVersion(real, version, passed),
      )
    })
  }

  /** Compares the file systems below and omits what the caller may not read. */
  diffFrom(before: FileSystem, ctx?: CallContext): AsyncIterable<PathChange> | null {
    if (!isDiffable(this.#fs)) return null
    const changes = this.#fs.diffFrom(before instanceof GuardedFs ? before.#fs : before, ctx)
    if (changes === null || this.#gate.isUnrestricted('read', ctx)) return changes
    return filterReadable(this.#gate, 'diff', changes, listItemPaths, ctx)
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return this.#runRead('exists', createEntryAccess(path, 'read'), ctx, (real, passed) =>
      this.#fs.exists(real, passed),
    )
  }

  protected doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    return this.#runRead('stat', createEntryAccess(path, 'read'), ctx, (real, passed) =>
      this.#fs.stat(real, passed),
    )
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return listAllowedEntries(this.#gate, path, ctx, (real, passed) => this.#fs.readdir(real, passed))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return openAllowedStream(this.#gate, 'read', path, ctx, (real, passed) =>
      this.#fs.read(real, options, passed),
    )
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

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): void | Promise<void> {
    return this.#store('write', path, content, ctx, (real, owned, passed) =>
      this.#fs.write(real, owned, options, passed),
    )
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void | Promise<void> {
    const touches = [createEntryAccess(path, 'write')]
    return this.#gate.runIfAllowed({ op: 'mkdir', touches, ctx }, async (passed, real) => {
      try {
        await this.#fs.mkdir(real, options, passed)
      } catch (error) {
        const isOurs = passed?.links === 'refuse' && ctx?.links !== 'refuse'
        if (!isOurs || !options.parents || !isVfsError(error, 'ELOOP')) throw error
        await this.#assertLeadsToDirectory(path, ctx)
      }
    })
  }

  /** Accepts a link only if it leads to a directory. EEXIST, ELOOP. */
  #assertLeadsToDirectory(path: string, ctx?: CallContext): void | Promise<void> {
    const touches = [createTargetAccess(path, 'write')]
    return this.#gate.runIfAllowed({ op: 'mkdir', touches, ctx }, async (passed, real) => {
      const found = (await this.#fs.exists(real, passed)) && (await this.#fs.stat(real, passed)).type
      if (found !== 'directory') throw new VfsError('EEXIST', path, { op: 'mkdir' })
    })
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void | Promise<void> {
    const touches = [createEntryAccess(path, 'remove')]
    return this.#gate.runIfAllowed({ op: 'remove', touches, ctx }, async (passed, real) => {
      if (options.recursive)
        await this.#gate.assertContentsAllowed('remove', [createEntryAccess(real, 'remove')], passed)
      await this.#quotas.remove({ op: 'remove', path: real, ctx: passed }, () =>
        this.#fs.remove(real, options, passed),
      )
    })
  }

  /** The file system below checks this: it knows the content, and what each of its mounts can do. */
  protected override assertMatch(): void {}
  protected override assertMutable(): void {}

  /** Copies the content first: the caller may change it while its path is checked. */
  #store(
    op: 'write' | 'append',
    path: string,
    content: Content,
    ctx: CallContext | undefined,
    run: (path: string, content: Content, ctx: CallContext | undefined) => Promise<void>,
  ): void | Promise<void> {
    if (this.#quotas.isEmpty && this.#gate.isUnrestricted('write', ctx)) return run(path, content, ctx)
    const owned = copyContent(content)
    const isRepeatable = typeof owned === 'string' || owned instanceof Uint8Array
    const passage = { op, touches: [createTargetAccess(path, 'write')], ctx, isRepeatable }
    return this.#gate.runIfAllowed(passage, (passed, real) =>
      this.#quotas.store({ op, path: real, ctx: passed }, owned, (stored) => run(real, stored, passed)),
    )
  }

  #runRead<T>(
    op: string,
    requested: PathAccess,
    ctx: CallContext | undefined,
    run: (path: string, ctx: CallContext | undefined) => Promise<T>,
  ): Promise<T> | T {
    if (this.#gate.isUnrestricted('read', ctx)) return run(requested.path, ctx)
    return this.#gate.runIfAllowed({ op, touches: [requested], ctx }, (passed, real) => run(real, passed))
  }

  #requireProtocol<Protocol>(
    is: (fs: FileSystem) => fs is FileSystem & Protocol,
    op: string,
    path: string,
  ): FileSystem & Protocol {
    const fs = this.#fs
    if (is(fs)) return fs
    throw new VfsError('ENOTSUP', path, { op })
  }
}
