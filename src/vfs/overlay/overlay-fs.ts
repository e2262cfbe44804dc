import { assertFileSystem } from '../assert-file-system.ts'
import { Backend } from '../backend.ts'
import type { CheckedMutation } from '../checked-file-system.ts'
import { VfsError } from '../error.ts'
import type {
  CallContext,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  MaterializeOptions,
  MkdirOptions,
  ReadOptions,
  RemoveOptions,
  Stat,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from '../file-system.ts'
import { diffTrees } from '../helpers/diff.ts'
import { append } from '../helpers/file-content.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { dirname } from '../path.ts'
import {
  type Appendable,
  type Attributed,
  type Forkable,
  type HardLinkable,
  type InodeIdentity,
  isAttributed,
  isHardLinkable,
  isLinkable,
  type Linkable,
  type RealpathOptions,
  type StatChanges,
} from '../protocols.ts'
import { createUnsupportedError } from '../require-protocol.ts'
import { assertStatChanges } from '../stat-changes.ts'
import { copyContent } from '../streams.ts'
import { commitLayers } from './commit-layers.ts'
import { type LayeredEntry, Layers } from './layers.ts'
import { ReadWriteLock } from './read-write-lock.ts'
import { addName, copyUp, removeName } from './upper-entries.ts'
import { walkLayers } from './walk-layers.ts'

const LOWER_CAPABILITIES: ReadonlySet<Capability> = new Set(['read', 'native-read', 'lazy'])
const UPPER_CAPABILITIES: ReadonlySet<Capability> = new Set([
  'write',
  'mkdir',
  'fork',
  'link',
  'hardlink',
  'setattr',
])

/** Paths an overlay changed against its lower layer, each list sorted. */
export interface OverlayDiff {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

/**
 * A copy-on-write layer: reads see upper, then lower; every change goes to upper. `diff` lists the changes, `commit`
 * applies all or none of them to lower, `discard` drops them. A fork stages its own changes over the same lower layer.
 *
 * Hard links are kept in upper only. A commit copies each name as its own file, and a lower file that is changed under
 * one name becomes a separate file.
 *
 * @example
 * ```ts
 * const files = new MemoryFs({ '/a.txt': 'one\n' })
 * const stage = new OverlayFs(files)
 * await stage.write('/a.txt', 'two\n')
 * assert.deepEqual((await stage.diff()).modified, ['/a.txt'])
 * await stage.commit()
 * assert.equal(await readText(files, '/a.txt'), 'two\n')
 * ```
 */
export class OverlayFs extends Backend implements Forkable, Linkable, HardLinkable, Attributed, Appendable {
  #layers: Layers
  readonly #lock = new ReadWriteLock()

  constructor(lower: FileSystem, upper: FileSystem = new MemoryFs()) {
    super()
    assertFileSystem(lower, '/', 'overlay')
    assertFileSystem(upper, '/', 'overlay')
    this.#layers = new Layers(lower, upper)
  }

  /** Lower's capabilities for reading and upper's for writing, and `append` if upper can be written. */
  get capabilities(): ReadonlySet<Capability> {
    const { lower, upper } = this.#layers
    const written = upper.capabilities.intersection(UPPER_CAPABILITIES)
    if (written.has('write')) written.add('append')
    // The layer that holds a path supplies its inode number.
    if (!isHardLinkable(lower)) written.delete('hardlink')
    return lower.capabilities.intersection(LOWER_CAPABILITIES).union(written)
  }

  fork(): OverlayFs {
    const layers = this.#layers.fork()
    const fork = new OverlayFs(layers.lower, layers.upper)
    fork.#layers = layers
    return fork
  }

  /** Lists the changes. Content decides: a file rewritten with equal content is not modified. */
  diff(ctx?: CallContext): Promise<OverlayDiff> {
    return this.#lock.runExclusive(async () => {
      const listTouched = (directory: string) => this.#layers.listTouchedNames(directory, ctx)
      const changes = await Array.fromAsync(diffTrees(this.#layers.lower, this, '/', listTouched, ctx))
      const paths = (wanted: string) => changes.flatMap(({ kind, path }) => (kind === wanted ? [path] : []))
      return { added: paths('added'), modified: paths('modified'), deleted: paths('deleted') }
    })
  }

  /**
   * Applies every change to lower and empties the overlay. If a step fails, lower is rolled back and the overlay keeps
   * its changes. Without `setattr`, lower sets its own times, and existing directories keep their modes.
   */
  commit(ctx?: CallContext): Promise<void> {
    return this.#lock.runExclusive(async () => {
      await commitLayers(this.#layers, this, ctx)
      await this.#layers.clear()
    })
  }

  /** Drops every change. */
  discard(): Promise<void> {
    return this.#lock.runExclusive(() => this.#layers.clear())
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, async ({ path: checked, ctx: inner }) => {
      const { upper } = this.#layers
      if (!isLinkable(upper)) throw createUnsupportedError('symlink', checked)
      const found = await this.#layers.locate(checked, false, 'symlink', inner)
      if (getVisibleStat(found)) throw new VfsError('EEXIST', checked, { op: 'symlink' })
      await addName(
        this.#layers,
        found.path,
        true,
        'symlink',
        () => upper.symlink(target, found.path, inner),
        inner,
      )
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked, inner) => {
      const found = await this.#getExisting(checked, false, 'readlink', inner)
      const layer = this.#getLayer(found)
      if (getVisibleStat(found)?.type === 'symlink' && isLinkable(layer))
        return layer.readlink(found.path, inner)
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, async (checked, inner) => {
      return (await this.#layers.locate(checked, followLast, 'realpath', inner)).path
    })
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate(
      { op: 'link', path: existing, to: path, ctx },
      async ({ path: source, to, ctx: inner }) => {
        const { upper } = this.#layers
        if (!isHardLinkable(upper)) throw createUnsupportedError('link', source)
        const found = await this.#getExisting(source, false, 'link', inner)
        if (getVisibleStat(found)?.type === 'directory') throw new VfsError('EISDIR', source, { op: 'link' })
        const name = await this.#layers.locate(to, false, 'link', inner)
        if (getVisibleStat(name)) throw new VfsError('EEXIST', to, { op: 'link' })
        const link = async () => {
          await copyUp(this.#layers, found, inner)
          await upper.link(found.path, name.path, inner)
        }
        await addName(this.#layers, name.path, false, 'link', link, inner)
      },
    )
  }

  /** A lower file gets another inode number when it is copied to upper. */
  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, async (checked, inner) => {
      const found = await this.#getExisting(checked, false, 'identity', inner)
      const layer = this.#getLayer(found)
      if (!isHardLinkable(layer)) throw createUnsupportedError('identity', checked)
      const { ino, nlink } = await layer.identity(found.path, inner)
      return { ino: 2 * ino + (found.upper ? 0 : 1), nlink }
    })
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, async ({ path: checked, ctx: inner }) => {
      assertStatChanges(checked, changes)
      const { upper } = this.#layers
      if (!isAttributed(upper)) throw createUnsupportedError('setattr', checked)
      const found = await this.#getExisting(checked, changes.ofLink !== true, 'setattr', inner)
      if (found.path === '/') return this.#layers.changeRoot(changes)
      await copyUp(this.#layers, found, inner)
      const change = () => upper.setattr(found.path, changes, inner)
      if (getVisibleStat(found)?.type !== 'directory') return change()
      await this.#layers.directories.runChange(found.path, change, inner)
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate(
      { op: 'append', path, content, ctx },
      async ({ path: checked, content: owned, ctx: inner }) => {
        await this.#writeContent(checked, true, 'append', inner, async (found) => {
          await copyUp(this.#layers, found, inner)
          await append(this.#layers.upper, found.path, owned, inner)
        })
      },
    )
  }

  protected override async doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return getVisibleStat(await this.#layers.locate(path, false, 'exists', ctx)) !== null
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const { upper, lower } = await this.#getExisting(path, false, 'stat', ctx)
    return upper ?? lower ?? throwMissing(path, 'stat')
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const found = await this.#getExisting(path, true, 'readdir', ctx)
    if (getVisibleStat(found)?.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    yield* this.#layers.list(found, ctx)
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    const found = await this.#getExisting(path, true, 'read', ctx)
    if (getVisibleStat(found)?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    yield* this.#getLayer(found).read(found.path, options, ctx)
  }

  protected override async *doWalk(
    root: string,
    options: WalkOptions,
    ctx?: CallContext,
  ): AsyncGenerator<WalkEntry> {
    const found = await this.#layers.locate(root, true, 'walk', ctx)
    if (getVisibleStat(found)?.type === 'directory')
      yield* walkLayers(this.#layers, found, root, options, ctx)
  }

  protected override async doMaterialize(options: MaterializeOptions, ctx?: CallContext): Promise<void> {
    await this.#layers.lower.materialize(options, ctx)
    await this.#layers.upper.materialize(options, ctx)
  }

  protected override async doWrite(
    path: string,
    content: Content,
    { parents = true, mode }: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    await this.#writeContent(path, parents, 'write', ctx, (found) => {
      const newMode = mode ?? getVisibleStat(found)?.mode
      const options = typeof newMode === 'number' ? { mode: newMode } : {}
      return this.#layers.upper.write(found.path, content, options, ctx)
    })
  }

  protected override async doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    const found = await this.#layers.locate(path, false, 'mkdir', ctx)
    if (getVisibleStat(found)) {
      const target = options.parents ? await this.#layers.locate(path, true, 'mkdir', ctx) : null
      if (target !== null && getVisibleStat(target)?.type === 'directory') return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    const make = () => this.#layers.upper.mkdir(found.path, options, ctx)
    await addName(this.#layers, found.path, options.parents === true, 'mkdir', make, ctx)
  }

  protected override async doRemove(
    path: string,
    { recursive = false }: RemoveOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const found = await this.#getExisting(path, false, 'remove', ctx)
    if (getVisibleStat(found)?.type === 'directory' && !recursive)
      throw new VfsError('EISDIR', path, { op: 'remove' })
    const remove = () => removeName(this.#layers, found, { recursive }, ctx)
    await this.#layers.directories.runChange(dirname(found.path), remove, ctx)
  }

  protected override runInOrder<T>(
    mutation: CheckedMutation,
    run: (mutation: CheckedMutation) => T | Promise<T>,
  ): T | Promise<T> {
    // Lookups precede the write, and the caller may change its buffer meanwhile.
    const owned = { ...mutation, content: copyContent(mutation.content) }
    return super.runInOrder(owned, (ready) => this.#lock.runShared(() => run(ready)))
  }

  async #getExisting(
    path: string,
    followLast: boolean,
    op: string,
    ctx?: CallContext,
  ): Promise<LayeredEntry> {
    const found = await this.#layers.locate(path, followLast, op, ctx)
    return getVisibleStat(found) ? found : throwMissing(path, op)
  }

  /**
   * Writes a file's content at the link's target. Overwriting an existing file does not change its directory's time.
   */
  async #writeContent(
    path: string,
    parents: boolean,
    op: string,
    ctx: CallContext | undefined,
    write: (found: LayeredEntry) => Promise<void>,
  ): Promise<void> {
    const found = await this.#layers.locate(path, true, op, ctx)
    const existing = getVisibleStat(found)
    if (existing?.type === 'directory') throw new VfsError('EISDIR', path, { op })
    if (existing === null) await addName(this.#layers, found.path, parents, op, () => write(found), ctx)
    else await this.#layers.directories.runKeepingTime(dirname(found.path), () => write(found), ctx)
  }

  #getLayer(found: LayeredEntry): FileSystem {
    return found.upper ? this.#layers.upper : this.#layers.lower
  }
}

function getVisibleStat({ upper, lower }: LayeredEntry): Stat | null {
  return upper ?? lower
}

function throwMissing(path: string, op: string): never {
  throw new VfsError('ENOENT', path, { op })
}
