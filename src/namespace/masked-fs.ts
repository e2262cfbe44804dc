import { hash as digest } from 'node:crypto'
import { hasPlaceholder } from '../secrets/index.ts'
import {
  type Appendable,
  type Attributed,
  append,
  Backend,
  type CallContext,
  type Capability,
  type Content,
  type ContentAddressed,
  collect,
  copyContent,
  type DirEntry,
  type FileHandle,
  type FileSystem,
  grep,
  type HardLinkable,
  hash,
  type InodeIdentity,
  isAttributed,
  isHardLinkable,
  isLinkable,
  isOpenable,
  isRenamable,
  isVfsError,
  isWatchable,
  type Linkable,
  type Match,
  type MaterializeOptions,
  MemoryFs,
  type MkdirOptions,
  type Openable,
  type OpenOptions,
  type PathChange,
  type ReadOptions,
  type RealpathOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  readFile,
  requireProtocol,
  type Searchable,
  type SearchQuery,
  type Stat,
  type StatChanges,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type Watchable,
  type WriteOptions,
} from '../vfs/index.ts'
import type { WorkspaceSecrets } from './workspace-secrets.ts'

/** Capabilities that are not offered, because they would go around the mask. */
const UNMASKED: ReadonlySet<Capability> = new Set(['sync', 'fork', 'diff', 'version'])

/**
 * A workspace in which files with secrets show placeholders in place of their values. A write puts each value back where
 * its placeholder is still at its key, so the workspace below always has the values.
 */
export class MaskedFs
  extends Backend
  implements
    Renamable,
    Linkable,
    HardLinkable,
    Attributed,
    Appendable,
    Openable,
    Searchable,
    ContentAddressed,
    Watchable
{
  readonly #fs: FileSystem
  readonly #secrets: WorkspaceSecrets

  constructor(fs: FileSystem, secrets: WorkspaceSecrets) {
    super()
    this.#fs = fs
    this.#secrets = secrets
  }

  get capabilities(): ReadonlySet<Capability> {
    return this.#fs.capabilities.difference(UNMASKED)
  }

  /** EACCES for a masked file that would show its values under the new name. */
  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, async (checked) => {
      const { path: source, to: target, ctx: inner } = checked
      await this.#assertStaysMasked('rename', source, target)
      if (options.overwrite === true && (await this.#replaceMasked(source, target, inner))) return
      await requireProtocol(this.#fs, isRenamable, 'rename', source).rename(source, target, options, inner)
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked, ctx: inner }) =>
      requireProtocol(this.#fs, isLinkable, 'symlink', checked).symlink(target, checked, inner),
    )
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) =>
      requireProtocol(this.#fs, isLinkable, 'readlink', checked).readlink(checked, inner),
    )
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      requireProtocol(this.#fs, isLinkable, 'realpath', checked).realpath(checked, options, inner),
    )
  }

  /** EACCES for another name of a masked file that would show its values. */
  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, async (checked) => {
      const { path: source, to: target, ctx: inner } = checked
      await this.#assertStaysMasked('link', source, target)
      await requireProtocol(this.#fs, isHardLinkable, 'link', source).link(source, target, inner)
    })
  }

  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, (checked, inner) =>
      requireProtocol(this.#fs, isHardLinkable, 'identity', checked).identity(checked, inner),
    )
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path: checked, ctx: inner }) =>
      requireProtocol(this.#fs, isAttributed, 'setattr', checked).setattr(checked, changes, inner),
    )
  }

  /** Appends to the values, not to the placeholders that a read shows. */
  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async (checked) => {
      const { path: target, ctx: inner } = checked
      const added = copyContent(checked.content)
      const origin = await this.#secrets.findOrigin(target)
      if (origin === undefined) return append(this.#fs, target, added, inner)
      const before = await this.#readIfPresent(target, inner)
      const bytes = Buffer.concat([before ?? new Uint8Array(0), await collect(added)])
      await this.#fs.write(target, bytes, {}, inner)
    })
  }

  /** ENOTSUP for a masked file: it is read and written as a whole. */
  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, async (checked, inner) => {
      const fs = requireProtocol(this.#fs, isOpenable, 'open', checked)
      if ((await this.#secrets.findOrigin(checked)) === undefined) return fs.open(checked, options, inner)
      throw new VfsError('ENOTSUP', checked, { op: 'open', detail: 'the file has masked values' })
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search(checked, query, inner))
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, async (checked, inner) => {
      const masked = await this.#readMasked(checked, inner)
      return masked === undefined ? hash(this.#fs, checked, inner) : digest('sha256', masked)
    })
  }

  watch(path: string, ctx?: CallContext): AsyncIterable<PathChange> {
    return this.stream('watch', path, ctx, (checked, inner) =>
      requireProtocol(this.#fs, isWatchable, 'watch', checked).watch(checked, inner),
    )
  }

  protected override doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#fs.exists(path, ctx)
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    return this.#maskStat(path, await this.#fs.stat(path, ctx), ctx)
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return this.#fs.readdir(path, ctx)
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    const masked = await this.#readMasked(path, ctx)
    if (masked === undefined) yield* this.#fs.read(path, options, ctx)
    else yield* new MemoryFs({ [path]: masked }).read(path, options)
  }

  protected override async *doWalk(
    root: string,
    options: WalkOptions,
    ctx?: CallContext,
  ): AsyncGenerator<WalkEntry> {
    for await (const { path, stat } of this.#fs.walk(root, options, ctx)) {
      const isSecret = stat.type === 'file' && this.#secrets.hasSecretName(path)
      yield { path, stat: isSecret ? await this.#maskStat(path, stat, ctx) : stat }
    }
  }

  protected override doMaterialize(options: MaterializeOptions, ctx?: CallContext): Promise<void> {
    return this.#fs.materialize(options, ctx)
  }

  protected override async doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    // The caller may change its buffer meanwhile.
    const owned = copyContent(content)
    const origin = await this.#secrets.findOrigin(path)
    const real = origin === undefined ? undefined : await this.#readIfPresent(path, ctx)
    if (origin === undefined || real === undefined) return this.#fs.write(path, owned, options, ctx)
    const restored = await this.#secrets.restore(path, origin, await collect(owned), real)
    const current = digest('sha256', real)
    const shown = digest('sha256', await this.#secrets.readMasked(path, origin, ctx))
    // The caller knows the version that it saw.
    const ifMatch = options.ifMatch === undefined || options.ifMatch === shown ? current : options.ifMatch
    await this.#fs.write(path, restored, { ...options, ifMatch }, ctx)
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    return this.#fs.mkdir(path, options, ctx)
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    return this.#fs.remove(path, options, ctx)
  }

  /** Checks nothing: the file system below compares `ifMatch` in the write itself. */
  protected override assertMatch(): void {}

  /** Searches the shown content alone: a match must not depend on a value. */
  async *#search(root: string, query: SearchQuery, ctx?: CallContext): AsyncGenerator<Match> {
    const masks = await this.#secrets.listBelow(root, ctx)
    for await (const match of grep(this.#fs, root, query, ctx)) if (!masks.has(match.path)) yield match
    for (const [path, origin] of masks) {
      const masked = await this.#secrets.readMasked(path, origin, ctx)
      yield* grep(new MemoryFs({ [path]: masked }), path, query, ctx)
    }
  }

  /** Returns the masked content of a file; undefined for a file that is not masked. */
  async #readMasked(path: string, ctx?: CallContext): Promise<Uint8Array | undefined> {
    const origin = await this.#secrets.findOrigin(path)
    return origin === undefined ? undefined : this.#secrets.readMasked(path, origin, ctx)
  }

  async #maskStat(path: string, stat: Stat, ctx?: CallContext): Promise<Stat> {
    if (stat.type !== 'file') return stat
    const masked = await this.#readMasked(path, ctx)
    return masked === undefined ? stat : { ...stat, size: masked.length }
  }

  async #readIfPresent(path: string, ctx?: CallContext): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#fs, path, {}, ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Throws EACCES if a masked file at or below `from` would have a name below `to` that is not masked. */
  async #assertStaysMasked(op: string, from: string, to: string): Promise<void> {
    const { type } = await this.#fs.stat(from)
    // A link leads to the same file from anywhere.
    if (type === 'symlink') return
    for (const path of (await this.#secrets.listBelow(from)).keys()) {
      const target = to + path.slice(from.length)
      if (this.#secrets.hasSecretName(target)) continue
      const detail = `its values are masked, and '${target}' would show them; copy it instead, with placeholders, or choose a name that is masked too`
      throw new VfsError('EACCES', path, { op, detail })
    }
  }

  /**
   * Renames a file with placeholders over a masked file, as editors save, and puts the values into it. Returns false, and
   * changes nothing, if `to` is not masked or `from` has no placeholders.
   */
  async #replaceMasked(from: string, to: string, ctx?: CallContext): Promise<boolean> {
    const origin = await this.#secrets.findOrigin(to)
    const real = origin === undefined ? undefined : await this.#readIfPresent(to, ctx)
    if (origin === undefined || real === undefined || (await this.#fs.stat(from, ctx)).type !== 'file')
      return false
    const content = await readFile(this.#fs, from, {}, ctx)
    if (!hasPlaceholder(content)) return false
    await this.#fs.write(to, await this.#secrets.restore(to, origin, content, real), {}, ctx)
    await this.#fs.remove(from, {}, ctx)
    return true
  }
}
