import { CheckedFileSystem } from '../checked-file-system.ts'
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
import { move } from '../helpers/copy-move.ts'
import { append } from '../helpers/file-content.ts'
import { hash } from '../helpers/hash.ts'
import { statIfPresent } from '../helpers/stat-if-present.ts'
import { checkPath, dirname, isWithin } from '../path.ts'
import {
  type Appendable,
  type Attributed,
  type ContentAddressed,
  type Diffable,
  type FileHandle,
  type Forkable,
  type HardLinkable,
  type InodeIdentity,
  isAttributed,
  isForkable,
  isHardLinkable,
  isLinkable,
  isOpenable,
  type Linkable,
  type Match,
  type Openable,
  type OpenOptions,
  type PathChange,
  type RealpathOptions,
  type Renamable,
  type RenameOptions,
  type Searchable,
  type SearchQuery,
  type StatChanges,
} from '../protocols.ts'
import { requireProtocol } from '../require-protocol.ts'
import type { SyncFileSystem, Synchronous } from '../sync-file-system.ts'
import { diffMounts } from './diff-mounts.ts'
import type { Mount } from './mount.ts'
import { MountPoints } from './mount-points.ts'
import { MountSync } from './mount-sync.ts'
import { MountedHandle } from './mounted-handle.ts'
import { createFixedAttributesError, createSyntheticStat } from './synthetic-directory.ts'
import { canBeForked, combineCapabilities } from './table-capabilities.ts'
import { listMixedEntries, searchMounts, walkMounts } from './walk-mounts.ts'

/** Options of `mount`. */
export interface MountOptions {
  /** Replace a file system that is already mounted there. */
  readonly replace?: boolean
}

/**
 * Combines many file systems into one namespace. The longest mount point of whole segments serves a path. Directories
 * that lead to a mount point exist. Hidden paths are never listed or walked. Errors carry the user's path and the
 * mount. A table is a file system, so tables nest.
 *
 * @example
 * ```ts
 * const table = new MountTable({ '/src': new MemoryFs({ '/a.ts': 'a' }), '/docs': new MemoryFs() })
 * assert.equal(await readText(table, '/src/a.ts'), 'a')
 * ```
 */
export class MountTable
  extends CheckedFileSystem
  implements
    Forkable,
    Renamable,
    Linkable,
    HardLinkable,
    Attributed,
    Synchronous,
    Appendable,
    Openable,
    Searchable,
    ContentAddressed,
    Diffable
{
  readonly #points = new MountPoints()
  #sync: MountSync | undefined

  constructor(mounts: Readonly<Record<string, FileSystem>> = {}) {
    super()
    for (const [path, fs] of Object.entries(mounts)) this.mount(path, fs)
  }

  get sync(): SyncFileSystem {
    this.#sync ??= new MountSync(this.#points)
    return this.#sync
  }

  /**
   * Mounts a file system; disposing of the result unmounts it. Throws EEXIST unless `replace`, and EINVAL for the table
   * itself or a value that is no file system.
   */
  mount(path: string, fs: FileSystem, { replace = false }: MountOptions = {}): Disposable {
    if (fs === this || (fs instanceof MountTable && fs.#contains(this))) {
      throw new VfsError('EINVAL', path, {
        op: 'mount',
        detail: 'a mount table cannot be mounted inside itself',
      })
    }
    const mount = this.#points.add(checkPath(path, 'mount'), fs, replace)
    return {
      [Symbol.dispose]: () => {
        if (this.#points.get(mount.path) === mount) this.#points.remove(mount.path)
      },
    }
  }

  unmount(path: string): void {
    this.#points.remove(path)
  }

  /** Lists the mounts, the longest mount point first. */
  mounts(): readonly { readonly path: string; readonly fs: FileSystem }[] {
    return this.#points.list().map(({ path, fs }) => ({ path, fs }))
  }

  /** Capabilities that every mount has, that the table composes, or that depend on the mount of the path. */
  get capabilities(): ReadonlySet<Capability> {
    return combineCapabilities(this.#points.list().map(({ fs }) => fs))
  }

  /** Forks every mount. One that can neither fork nor be written is shared. Throws ENOTSUP for any other that cannot fork. */
  fork(): MountTable {
    const forks = new Map<FileSystem, FileSystem>()
    const fork = new MountTable()
    for (const { path, fs } of this.#points.list()) {
      // One file system mounted twice is still one after the fork.
      const forked = forks.get(fs) ?? forkMount(path, fs)
      forks.set(fs, forked)
      fork.mount(path, forked)
    }
    return fork
  }

  /** Returns null unless `before` is a table with equal mount points, such as the table of which this is a fork. */
  diffFrom(before: FileSystem, ctx?: CallContext): AsyncIterable<PathChange> | null {
    if (!(before instanceof MountTable) || !before.#points.hasSameMountPoints(this.#points)) return null
    return diffMounts(before.#points, this.#points, ctx)
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, ({ path: source, to: target, ctx: inner }) => {
      this.#points.assertNoMountPoint(source, 'rename')
      this.#points.assertNoMountPoint(target, 'rename')
      const mount = this.#points.getCommonMount(source, target, 'rename', 'move with across: true to copy')
      return mount.call((fs) =>
        move(fs, mount.toInnerPath(source), mount.toInnerPath(target), options, inner),
      )
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked, ctx: inner }) => {
      if (this.#points.isImplied(checked)) throw new VfsError('EEXIST', checked, { op: 'symlink' })
      const mount = this.#points.getServingMount(checked, 'symlink')
      const innerPath = mount.toInnerPath(checked)
      return mount.call((fs) =>
        requireProtocol(fs, isLinkable, 'symlink', innerPath).symlink(target, innerPath, inner),
      )
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => {
      const mount = this.#points.getServingMount(checked, 'readlink')
      const innerPath = mount.toInnerPath(checked)
      return mount.call((fs) =>
        requireProtocol(fs, isLinkable, 'readlink', innerPath).readlink(innerPath, inner),
      )
    })
  }

  /** Throws EXDEV for a link to a path that another mount hides: links stay inside their mount. */
  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, async (checked, inner) => {
      const mount = this.#points.route(checked)
      if (mount === undefined || !isLinkable(mount.fs) || this.#points.isImplied(checked)) return checked
      const { fs } = mount
      const real = mount.toOuterPath(
        await mount.call(() => fs.realpath(mount.toInnerPath(checked), options, inner)),
      )
      if (this.#points.route(real) === mount) return real
      const detail = `a symbolic link leads to '${real}', which is on another mount`
      throw new VfsError('EXDEV', checked, { op: 'realpath', mount: mount.path, detail })
    })
  }

  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, ({ path: source, to, ctx: inner }) => {
      if (this.#points.isImplied(to)) throw new VfsError('EEXIST', to, { op: 'link' })
      if (this.#points.isImplied(source)) throw new VfsError('EISDIR', source, { op: 'link' })
      const mount = this.#points.getCommonMount(source, to, 'link', 'hard links cannot cross mounts')
      const [from, name] = [mount.toInnerPath(source), mount.toInnerPath(to)]
      return mount.call((fs) => requireProtocol(fs, isHardLinkable, 'link', from).link(from, name, inner))
    })
  }

  /** Inode numbers are unique over all mounts, as long as each mount's numbers stay below some trillions. */
  identity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    return this.call('identity', path, ctx, async (checked, inner) => {
      const mount = this.#points.findServingMount(checked, 'identity')
      if (mount === undefined || (await this.#isSynthetic(mount, checked, inner))) {
        return { ino: this.#points.syntheticIno(checked), nlink: 1 }
      }
      const innerPath = mount.toInnerPath(checked)
      const found = mount.call((fs) =>
        requireProtocol(fs, isHardLinkable, 'identity', innerPath).identity(innerPath, inner),
      )
      return mount.withTableIno(await found)
    })
  }

  /** Throws ENOTSUP if the mount cannot set attributes, or if the directory exists only because of a mount below it. */
  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, async ({ path: checked, ctx: inner }) => {
      const mount = this.#points.findServingMount(checked, 'setattr')
      // No await for most paths, which lead to no mount: they keep their place among other changes.
      const isImplied = mount === undefined || this.#points.isImplied(checked)
      if (mount === undefined || (isImplied && (await this.#isSynthetic(mount, checked, inner)))) {
        throw createFixedAttributesError(checked)
      }
      const innerPath = mount.toInnerPath(checked)
      return mount.call((fs) =>
        requireProtocol(fs, isAttributed, 'setattr', innerPath).setattr(innerPath, changes, inner),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate(
      { op: 'append', path, content, ctx },
      ({ path: checked, content: owned, ctx: inner }) => {
        const mount = this.#points.getFileMount(checked, 'append')
        return mount.call((fs) => append(fs, mount.toInnerPath(checked), mount.markIncoming(owned), inner))
      },
    )
  }

  /** Throws ENOTSUP if the mount cannot open files. */
  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (checked, inner) => {
      const mount = this.#points.getFileMount(checked, 'open')
      const innerPath = mount.toInnerPath(checked)
      return mount.call(async (fs) => {
        const opened = requireProtocol(fs, isOpenable, 'open', innerPath).open(innerPath, options, inner)
        return new MountedHandle(mount, await opened)
      })
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) => {
      const mount = this.#points.getFileMount(checked, 'hash')
      return mount.call((fs) => hash(fs, mount.toInnerPath(checked), inner))
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) =>
      searchMounts(this, this.#points, checked, query, inner),
    )
  }

  protected doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    if (path === '/' || this.#points.isImplied(path)) return true
    const mount = this.#points.route(path)
    return mount === undefined ? false : mount.call((fs) => fs.exists(mount.toInnerPath(path), ctx))
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const mount = this.#points.findServingMount(path, 'stat')
    if (mount === undefined) return createSyntheticStat()
    // Most paths lead to no mount and need no extra promise.
    const isSynthetic = this.#points.isImplied(path) && (await this.#isSynthetic(mount, path, ctx))
    return isSynthetic ? createSyntheticStat() : mount.call((fs) => fs.stat(mount.toInnerPath(path), ctx))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    const mount = this.#points.findServingMount(path, 'readdir')
    const names = this.#points.findNamesIn(path)
    if (names !== undefined) return listMixedEntries(mount, path, names, ctx)
    return mount
      ? mount.translateStream(mount.fs.readdir(mount.toInnerPath(path), ctx))
      : listMixedEntries(mount, path, [], ctx)
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const mount = this.#points.getFileMount(path, 'read')
    return mount.translateStream(mount.fs.read(mount.toInnerPath(path), options, ctx))
  }

  protected doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return walkMounts(this, this.#points, root, options, ctx)
  }

  protected async doMaterialize({ prefix = '/' }: MaterializeOptions, ctx?: CallContext): Promise<void> {
    const serving = this.#points.route(prefix)
    if (serving) await serving.call((fs) => fs.materialize({ prefix: serving.toInnerPath(prefix) }, ctx))
    for (const mount of this.#points.list().reverse()) {
      if (mount === serving || !isWithin(mount.path, prefix)) continue
      await mount.call((fs) => fs.materialize({}, ctx))
    }
  }

  protected doWrite(path: string, content: Content, options: WriteOptions, ctx?: CallContext): Promise<void> {
    const mount = this.#points.getFileMount(path, 'write')
    // The parent may exist only because a mount is below it; then the backend still has to make it.
    const mayBeSynthetic = options.parents === false && this.#points.findNamesIn(dirname(path)) !== undefined
    const adjusted = mayBeSynthetic ? { ...options, parents: true } : options
    return mount.call((fs) => fs.write(mount.toInnerPath(path), mount.markIncoming(content), adjusted, ctx))
  }

  protected async doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    if (this.#points.isImplied(path)) {
      if (options.parents) return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    const mount = this.#points.getServingMount(path, 'mkdir')
    const parent = mount.toInnerPath(dirname(path))
    const mayBeSynthetic = this.#points.findNamesIn(dirname(path)) !== undefined
    await mount.call(async (fs) => {
      // The parent may exist only because a mount is below it; `parents` has the backend make it along the way.
      const needsParent = mayBeSynthetic && !(await fs.exists(parent, ctx))
      await fs.mkdir(mount.toInnerPath(path), needsParent ? { ...options, parents: true } : options, ctx)
    })
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    this.#points.assertNoMountPoint(path, 'remove')
    const mount = this.#points.getServingMount(path, 'remove')
    return mount.call((fs) => fs.remove(mount.toInnerPath(path), options, ctx))
  }

  /** Checks nothing: each mount decides for its own paths. */
  protected override assertMutable(): void {}

  /**
   * Reports whether a synthetic directory hides the mount's own entry, which is the case unless that is a directory.
   */
  async #isSynthetic(mount: Mount, path: string, ctx?: CallContext): Promise<boolean> {
    if (!this.#points.isImplied(path)) return false
    const real = await mount.call((fs) => statIfPresent(fs, mount.toInnerPath(path), ctx))
    return real?.type !== 'directory'
  }

  #contains(table: MountTable): boolean {
    return this.#points
      .list()
      .some(({ fs }) => fs === table || (fs instanceof MountTable && fs.#contains(table)))
  }
}

function forkMount(path: string, fs: FileSystem): FileSystem {
  if (isForkable(fs)) return fs.fork()
  if (canBeForked(fs)) return fs
  const detail = 'the file system mounted here cannot fork; mount it under an OverlayFs'
  throw new VfsError('ENOTSUP', path, { op: 'fork', mount: path, detail })
}
