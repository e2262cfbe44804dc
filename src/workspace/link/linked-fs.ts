import { join } from 'node:path'
import type { Mutex } from '../../machine/index.ts'
import {
  type Appendable,
  type Attributed,
  append,
  assertLinkFree,
  assertSameVersion,
  Backend,
  type CallContext,
  type Capability,
  type Content,
  collect,
  compileQuery,
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
  MemoryFs,
  type MkdirOptions,
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
  searchSteps,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type Watchable,
  type WriteOptions,
} from '../../vfs/index.ts'
import { copyUp } from './copy-up.ts'
import { DirectoryReader } from './directory-reader.ts'
import { ForkLayers, type LayerTrees } from './fork-layers.ts'
import type { LinkedFork } from './link-home.ts'
import type { LinkedDirectory } from './linked-directory.ts'
import { LinkedView, refuseLinks } from './linked-view.ts'
import type { MaskContent } from './masked-host-tree.ts'
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
  /** Directories of this machine that cannot be removed with one around them, such as homes. */
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

  constructor(parts: LinkedFsParts) {
    super()
    this.#parts = parts
    this.#vault = parts.vault
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, async (checked) => {
      const [source, target] = [
        await this.#resolve(checked.path, false, 'rename', ctx),
        await this.#resolve(checked.to, false, 'rename', ctx),
      ]
      const touched = [source, target].map((path) => ({ path, isCovered: true }))
      await this.#change('rename', touched, () =>
        requireProtocol(this.#vault, isRenamable, 'rename', source).rename(
          source,
          target,
          options,
          refuseLinks(ctx),
        ),
      )
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, async (checked) => {
      const at = await this.#resolve(checked.path, false, 'symlink', ctx)
      await this.#change('symlink', [{ path: at, isCovered: false }], () =>
        requireProtocol(this.#vault, isLinkable, 'symlink', at).symlink(target, at, refuseLinks(ctx)),
      )
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked) => {
      const view = await this.#open()
      const at = await resolvePath(view, checked, false, 'readlink', ctx)
      const fs = view.findLayer(at)
      if (fs === undefined) throw new VfsError('ENOENT', at, { op: 'readlink' })
      return requireProtocol(fs, isLinkable, 'readlink', at).readlink(at, refuseLinks(ctx))
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked) => this.#resolve(checked, followLast, 'realpath', ctx))
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, async (checked) => {
      const at = await this.#resolve(checked.path, changes.ofLink !== true, 'setattr', ctx)
      await this.#change('setattr', [{ path: at, isCovered: false }], () =>
        requireProtocol(this.#vault, isAttributed, 'setattr', at).setattr(at, changes, refuseLinks(ctx)),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, async (checked) => {
      const bytes = await collect(checked.content)
      const at = await this.#resolve(checked.path, true, 'append', ctx)
      await this.#change('append', [{ path: at, isCovered: false }], () =>
        append(this.#vault, at, bytes, refuseLinks(ctx)),
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
    return view.stat(await resolvePath(view, path, false, 'stat', ctx), ctx)
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const view = await this.#open()
    yield* view.list(await resolvePath(view, path, true, 'readdir', ctx), ctx)
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    const view = await this.#open()
    const at = await resolvePath(view, path, true, 'read', ctx)
    const fs = view.findLayer(at)
    if (fs === undefined) throw new VfsError('ENOENT', at, { op: 'read' })
    const masked = fs === this.#parts.directory ? view.readMasked(at) : undefined
    if (masked !== undefined) yield* new MemoryFs({ [at]: masked }).read(at, options)
    else yield* fs.read(at, options, refuseLinks(ctx))
  }

  protected override async *doWalk(
    root: string,
    options: WalkOptions,
    ctx?: CallContext,
  ): AsyncGenerator<WalkEntry> {
    const view = await this.#open()
    const at = await resolvePath(view, root, true, 'walk', ctx)
    for await (const { path, stat } of view.walk(at, options, ctx))
      yield { path: at === root ? path : join(root, path.slice(at.length)), stat }
  }

  protected override async doWrite(
    path: string,
    content: Content,
    { ifMatch, ...options }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const bytes = await collect(content)
    const at = await this.#resolve(path, true, 'write', ctx)
    await this.#change('write', [{ path: at, isCovered: false }], async () => {
      if (ifMatch !== undefined) assertSameVersion(at, await this.#findHash(at), ifMatch)
      await this.#vault.write(at, bytes, options, refuseLinks(ctx))
    })
  }

  protected override async doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    const view = await this.#open()
    const at = await resolvePath(view, path, false, 'mkdir', ctx)
    if ((await view.findStat(at, ctx))?.type === 'symlink') {
      const target = options.parents === true ? await resolvePath(view, at, true, 'mkdir', ctx) : at
      if ((await view.findStat(target, ctx))?.type === 'directory') return
      throw new VfsError('EEXIST', at, { op: 'mkdir' })
    }
    await this.#change('mkdir', [{ path: at, isCovered: false }], () =>
      this.#vault.mkdir(at, options, refuseLinks(ctx)),
    )
  }

  protected override async doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    const view = await this.#open()
    const at = await resolvePath(view, path, false, 'remove', ctx)
    const { type } = await view.stat(at, ctx)
    if (type === 'directory' && options.recursive !== true) throw new VfsError('EISDIR', at, { op: 'remove' })
    await this.#change('remove', [{ path: at, isCovered: true }], () =>
      this.#vault.remove(at, options, refuseLinks(ctx)),
    )
  }

  /** Checked in the write itself, after the path is in the fork. */
  protected override assertMatch(): void {}

  /** Copies paths into the fork, and changes them there. */
  #change(op: string, touched: readonly TouchedPath[], change: () => Promise<void>): Promise<void> {
    return this.#parts.mutex.run(async () => {
      for (const { path, isCovered } of touched) await this.#assertChangeable(op, path, isCovered)
      const { link, fork, mask } = this.#parts
      using tree = link.openTree(await mask?.())
      await copyUp(await this.#openTrees(), tree, touched)
      await link.markUsed(fork)
      await change()
    })
  }

  async #assertChangeable(op: string, path: string, isCovered: boolean): Promise<void> {
    const { link, directory, closed = [] } = this.#parts
    // A closed directory is EACCES.
    await directory.exists(path, refuseLinks(undefined)).catch((error: unknown) => {
      if (!isVfsError(error, 'ELOOP') && !isVfsError(error, 'ENOTDIR')) throw error
    })
    if (isCovered && closed.some((each) => isWithin(each, link.path + path)))
      throw new VfsError('EACCES', path, { op, detail: 'it contains a home of Coppice' })
    if (link.canChange(path, isCovered)) return
    const detail = 'it cannot be read, or has a name that is reserved, so a fork cannot change it'
    throw new VfsError('EACCES', path, { op, detail })
  }

  async #findHash(path: string): Promise<string | null> {
    try {
      return await hash(this.#vault, path)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return null
      throw error
    }
  }

  async *#search(root: string, query: SearchQuery, ctx: CallContext | undefined): AsyncGenerator<Match> {
    const compiled = compileQuery(query)
    const view = await this.#open()
    const at = await resolvePath(view, root, true, 'search', ctx)
    const { type } = await view.stat(at, ctx)
    using reader = new DirectoryReader(this.#parts.link.path)
    const readContent = async (path: string, isPlain: boolean) =>
      (isPlain ? (view.readMasked(path) ?? reader.read(path)) : undefined) ?? readFile(this, path, {}, ctx)
    if (type !== 'directory') {
      yield* findAll(root, await readContent(at, false), compiled, ctx)
      return
    }
    for await (const { path, stat, isPlain } of view.walk(at, {}, ctx)) {
      if (stat.type !== 'file') continue
      const shown = at === root ? path : join(root, path.slice(at.length))
      try {
        yield* findAll(shown, await readContent(path, isPlain), compiled, ctx)
      } catch (error) {
        if (!isVfsError(error)) throw error
      }
    }
  }

  /** Opens the files for one operation. */
  async #open(): Promise<LinkedView> {
    const { link, directory, mask } = this.#parts
    const layers = new ForkLayers(await this.#openTrees())
    return new LinkedView({ root: link.path, directory, vault: this.#vault, layers, mask: await mask?.() })
  }

  #openTrees(): Promise<LayerTrees> {
    const { link, fork } = this.#parts
    // Copies are no changes of the caller.
    return link.openTreeFiles(fork, { caller: { kind: 'system' } })
  }

  async #resolve(
    path: string,
    followLast: boolean,
    op: string,
    ctx: CallContext | undefined,
  ): Promise<string> {
    return resolvePath(await this.#open(), path, followLast, op, ctx)
  }
}

/** Resolves the links in a path. ELOOP if the call must not follow any. */
async function resolvePath(
  view: LinkedView,
  path: string,
  followLast: boolean,
  op: string,
  ctx: CallContext | undefined,
): Promise<string> {
  const resolved = await view.resolve(path, followLast, op)
  assertLinkFree(path, resolved, op, ctx)
  return resolved
}

/** Yields the matching lines of one file, and lets other work run meanwhile. */
async function* findAll(
  path: string,
  bytes: Uint8Array,
  query: ReturnType<typeof compileQuery>,
  ctx: CallContext | undefined,
): AsyncGenerator<Match> {
  for (const step of searchSteps(path, bytes, query)) {
    if (step === null) await query.yielder.yield(ctx?.signal)
    else yield step
  }
}
