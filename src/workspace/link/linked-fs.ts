import { join } from 'node:path'
import type { Mutex } from '../../machine/index.ts'
import {
  type Appendable,
  type Attributed,
  append,
  assertSameVersion,
  Backend,
  type CallContext,
  type Capability,
  type Content,
  collect,
  createLazyStream,
  type DirEntry,
  type FileSystem,
  hash,
  isAttributed,
  isLinkable,
  isRenamable,
  isVfsError,
  isWatchable,
  isWithin,
  type Linkable,
  type Match,
  type MkdirOptions,
  type PathChange,
  pullFrom,
  type ReadOptions,
  type RealpathOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  refuseLinks,
  requireProtocol,
  type Searchable,
  type SearchQuery,
  type Stat,
  type StatChanges,
  startStream,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type Watchable,
  type WriteOptions,
} from '../../vfs/index.ts'
import { copyUp } from './copy-up.ts'
import { ForkLayers, type LayerTrees } from './fork-layers.ts'
import type { LinkedFork } from './link-home.ts'
import type { LinkedDirectory } from './linked-directory.ts'
import { LinkedView } from './linked-view.ts'
import type { MaskContent } from './masked-host-tree.ts'
import { searchFork } from './search-fork.ts'
import type { TouchedPath } from './touched-paths.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
  'rename',
  'link',
  'setattr',
  'append',
  'search',
  'watch',
])

/** Parts of the files of a fork. */
export interface LinkedFsParts {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  /** The fork's vault. */
  readonly vault: FileSystem
  /** The files of the directory, for reading. It follows no link that leads out. */
  readonly directory: FileSystem
  /** Orders the changes of the fork in this process. */
  readonly mutex: Mutex
  /** Returns the mask of the directory's files; none when absent. */
  readonly mask?: (() => Promise<MaskContent>) | undefined
  /** Directories of this machine that no removal or move of a directory around them may include, such as homes. */
  readonly closed?: readonly string[] | undefined
}

/**
 * The files of a fork of a directory: the directory as it is now, with the changes of the fork on top. Nothing is
 * imported; a change copies its path into the fork first. The directory stays as it is.
 */
export class LinkedFs
  extends Backend
  implements Renamable, Linkable, Attributed, Appendable, Searchable, Watchable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #parts: LinkedFsParts
  readonly #vault: FileSystem
  #trees: LayerTrees | undefined

  constructor(parts: LinkedFsParts) {
    super()
    this.#parts = parts
    this.#vault = parts.vault
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, async (checked) => {
      const [source, target] = [
        await this.#resolve(checked.path, false, 'rename', checked.ctx),
        await this.#resolve(checked.to, false, 'rename', checked.ctx),
      ]
      const touched = [source, target].map((path) => ({ path, isCovered: true }))
      await this.#change('rename', touched, checked.ctx, (inner) =>
        requireProtocol(this.#vault, isRenamable, 'rename', source).rename(source, target, options, inner),
      )
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, async (checked) => {
      const real = await this.#resolve(checked.path, false, 'symlink', checked.ctx)
      await this.#change('symlink', [{ path: real, isCovered: false }], checked.ctx, (inner) =>
        requireProtocol(this.#vault, isLinkable, 'symlink', real).symlink(target, real, inner),
      )
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked, inner) => {
      const view = await this.#open()
      const real = await view.resolve(checked, false, 'readlink', inner)
      const fs = view.findLayer(real)
      if (fs === undefined) throw new VfsError('ENOENT', real, { op: 'readlink' })
      return requireProtocol(fs, isLinkable, 'readlink', real).readlink(real, refuseLinks(inner))
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      this.#resolve(checked, followLast, 'realpath', inner),
    )
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, async (checked) => {
      const real = await this.#resolve(checked.path, changes.ofLink !== true, 'setattr', checked.ctx)
      await this.#change('setattr', [{ path: real, isCovered: false }], checked.ctx, (inner) =>
        requireProtocol(this.#vault, isAttributed, 'setattr', real).setattr(real, changes, inner),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async (checked) => {
      const bytes = await collect(checked.content)
      const real = await this.#resolve(checked.path, true, 'append', checked.ctx)
      await this.#change('append', [{ path: real, isCovered: false }], checked.ctx, (inner) =>
        append(this.#vault, real, bytes, inner),
      )
    })
  }

  /** Yields the changes of the fork, by any process. Changes of the directory itself are not reported. */
  watch(path: string, ctx?: CallContext): AsyncIterable<PathChange> {
    return this.stream('watch', path, ctx, (checked, inner) =>
      requireProtocol(this.#vault, isWatchable, 'watch', checked).watch(checked, inner),
    )
  }

  /** Finds the same lines as reading every file, with fewer steps for each. */
  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search(checked, query, inner))
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const view = await this.#open()
    const request = { path, op: 'stat', followLast: false }
    return view.runResolved(request, ctx, (real) => view.stat(real, ctx))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const request = { path, op: 'readdir', followLast: true }
    return createLazyStream(async () => {
      const view = await this.#open()
      return pullFrom(await view.runResolved(request, ctx, (real) => view.list(real, ctx)))
    })
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    const view = await this.#open()
    const request = { path, op: 'read', followLast: true }
    yield* await view.runResolved(request, ctx, (real) => startStream(view.read(real, options, ctx)))
  }

  protected override async *doWalk(
    root: string,
    options: WalkOptions,
    ctx?: CallContext,
  ): AsyncGenerator<WalkEntry> {
    const view = await this.#open()
    const real = await view.resolve(root, true, 'walk', ctx)
    for await (const { path, stat } of view.walk(real, options, ctx))
      yield { path: real === root ? path : join(root, path.slice(real.length)), stat }
  }

  protected override async doWrite(
    path: string,
    content: Content,
    { ifMatch, ...options }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const bytes = await collect(content)
    const real = await this.#resolve(path, true, 'write', ctx)
    await this.#change('write', [{ path: real, isCovered: false }], ctx, async (inner) => {
      if (ifMatch !== undefined) assertSameVersion(real, await this.#findHash(real, inner), ifMatch)
      await this.#vault.write(real, bytes, options, inner)
    })
  }

  protected override async doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    const view = await this.#open()
    const real = await view.resolve(path, false, 'mkdir', ctx)
    if ((await view.findStat(real, ctx))?.type === 'symlink') {
      const target = options.parents === true ? await view.resolve(real, true, 'mkdir', ctx) : real
      if ((await view.findStat(target, ctx))?.type === 'directory') return
      throw new VfsError('EEXIST', real, { op: 'mkdir' })
    }
    await this.#change('mkdir', [{ path: real, isCovered: false }], ctx, (inner) =>
      this.#vault.mkdir(real, options, inner),
    )
  }

  protected override async doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    const view = await this.#open()
    const real = await view.resolve(path, false, 'remove', ctx)
    const { type } = await view.stat(real, ctx)
    if (type === 'directory' && options.recursive !== true)
      throw new VfsError('EISDIR', real, { op: 'remove' })
    await this.#change('remove', [{ path: real, isCovered: true }], ctx, (inner) =>
      this.#vault.remove(real, options, inner),
    )
  }

  /** Does nothing: the write itself checks it, after the path is in the fork. */
  protected override assertMatch(): void {}

  /**
   * Copies paths, whose links are resolved, into the fork, and changes them there. Throws EACCES if the fork cannot
   * change one.
   * @param change gets a context in which no link is followed.
   */
  #change(
    op: string,
    touched: readonly TouchedPath[],
    ctx: CallContext | undefined,
    change: (ctx: CallContext) => Promise<void>,
  ): Promise<void> {
    const inner = refuseLinks(ctx)
    return this.#parts.mutex.run(async () => {
      for (const { path, isCovered } of touched) await this.#assertChangeable(op, path, isCovered, inner)
      const { link, fork, mask } = this.#parts
      using tree = link.openTree(await mask?.())
      await copyUp(await this.#openTrees(), tree, touched)
      await link.markUsed(fork)
      await change(inner)
    })
  }

  async #assertChangeable(op: string, path: string, isCovered: boolean, ctx: CallContext): Promise<void> {
    const { link, directory, closed = [] } = this.#parts
    // Throws EACCES behind a directory that this user may not enter.
    await directory.exists(path, ctx).catch((error: unknown) => {
      if (!isVfsError(error, 'ELOOP') && !isVfsError(error, 'ENOTDIR')) throw error
    })
    if (isCovered && closed.some((each) => isWithin(each, link.path + path)))
      throw new VfsError('EACCES', path, { op, detail: 'it contains a home of Coppice' })
    if (link.canChange(path, isCovered)) return
    const detail = 'it cannot be read, or has a name that is reserved, so a fork cannot change it'
    throw new VfsError('EACCES', path, { op, detail })
  }

  async #findHash(path: string, ctx: CallContext): Promise<string | null> {
    try {
      return await hash(this.#vault, path, ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return null
      throw error
    }
  }

  async *#search(root: string, query: SearchQuery, ctx: CallContext | undefined): AsyncGenerator<Match> {
    const fork = { view: await this.#open(), directory: this.#parts.link.path, fs: this }
    yield* searchFork(fork, root, query, ctx)
  }

  /** Opens the files for one operation. */
  async #open(): Promise<LinkedView> {
    const { link, directory, mask } = this.#parts
    const layers = new ForkLayers(await this.#openTrees())
    return new LinkedView({ root: link.path, directory, vault: this.#vault, layers, mask: await mask?.() })
  }

  async #openTrees(): Promise<LayerTrees> {
    const { link, fork } = this.#parts
    // Copies are no changes of the caller.
    this.#trees ??= await link.openTreeFiles(fork, { caller: { kind: 'system' } })
    return this.#trees
  }

  async #resolve(
    path: string,
    followLast: boolean,
    op: string,
    ctx: CallContext | undefined,
  ): Promise<string> {
    return (await this.#open()).resolve(path, followLast, op, ctx)
  }
}
