import { CheckedSyncFileSystem } from '../checked-sync-file-system.ts'
import { VfsError } from '../error.ts'
import type { CallContext, DirEntry, MkdirOptions, RemoveOptions } from '../file-system.ts'
import { presentNow } from '../helpers/presence.ts'
import { dirname } from '../path.ts'
import type { OpenOptions, RealpathOptions, RenameOptions, StatChanges } from '../protocols.ts'
import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import type { Mount } from './mount.ts'
import type { MountPoints } from './mount-points.ts'
import { MountedHandle } from './mounted-handle.ts'
import { fixed, syntheticStat } from './synthetic.ts'

/** The synchronous face of a mount table. A mount that has none is ENOTSUP. */
export class MountSync extends CheckedSyncFileSystem {
  readonly #points: MountPoints

  constructor(points: MountPoints) {
    super()
    this.#points = points
  }

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    const mount = this.#points.servingIfAny(path, 'stat')
    if (mount === undefined || this.#isSynthetic(mount, path, ctx)) {
      return { ...syntheticStat(), ino: this.#points.syntheticIno(path), nlink: 1 }
    }
    return mount.identified(mount.askNow((sync) => sync.stat(mount.inner(path), ctx)))
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    const mount = this.#points.servingIfAny(path, 'readdir')
    const names = this.#points.namesIn(path) ?? []
    const isReal = mount !== undefined && !this.#isSynthetic(mount, path, ctx)
    const real = isReal ? mount.askNow((sync) => sync.readdir(mount.inner(path), ctx)) : []
    if (names.length === 0) return real
    const entries = new Map(real.map((entry) => [entry.name, entry]))
    for (const name of names) entries.set(name, { name, type: 'directory' })
    return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    const mount = this.#points.servingFile(path, 'open')
    return new MountedHandle(
      mount,
      mount.askNow((sync) => sync.open(mount.inner(path), options, ctx)),
    )
  }

  protected doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) {
      if (options.parents) return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    const mount = this.#points.serving(path, 'mkdir')
    const isSynthetic = this.#points.namesIn(dirname(path)) !== undefined
    mount.askNow((sync) => {
      // The parent may exist only because a mount is below it; `parents` has the backend make it along the way.
      const needsParent = isSynthetic && presentNow(sync, mount.inner(dirname(path)), ctx) === null
      sync.mkdir(mount.inner(path), needsParent ? { ...options, parents: true } : options, ctx)
    })
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#points.assertFree(path, 'remove')
    const mount = this.#points.serving(path, 'remove')
    mount.askNow((sync) => sync.remove(mount.inner(path), options, ctx))
  }

  protected doRmdir(path: string, ctx?: CallContext): void {
    this.#points.assertFree(path, 'rmdir')
    const mount = this.#points.serving(path, 'rmdir')
    mount.askNow((sync) => sync.rmdir(mount.inner(path), ctx))
  }

  protected doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void {
    this.#points.assertFree(from, 'rename')
    this.#points.assertFree(to, 'rename')
    const mount = this.#points.servingBoth(from, to, 'rename', 'copy it and remove it')
    mount.askNow((sync) => sync.rename(mount.inner(from), mount.inner(to), options, ctx))
  }

  protected doSymlink(target: string, path: string, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) throw new VfsError('EEXIST', path, { op: 'symlink' })
    const mount = this.#points.serving(path, 'symlink')
    mount.askNow((sync) => sync.symlink(target, mount.inner(path), ctx))
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    const mount = this.#points.serving(path, 'readlink')
    return mount.askNow((sync) => sync.readlink(mount.inner(path), ctx))
  }

  protected doRealpath(path: string, options: RealpathOptions, ctx?: CallContext): string {
    const mount = this.#points.route(path)
    if (mount === undefined || this.#points.isImplied(path)) return path
    const real = mount.outer(mount.askNow((sync) => sync.realpath(mount.inner(path), options, ctx)))
    if (this.#points.route(real) === mount) return real
    const detail = `a symbolic link leads to '${real}', which is on another mount`
    throw new VfsError('EXDEV', path, { op: 'realpath', mount: mount.path, detail })
  }

  protected doLink(existing: string, path: string, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) throw new VfsError('EEXIST', path, { op: 'link' })
    if (this.#points.isImplied(existing)) throw new VfsError('EISDIR', existing, { op: 'link' })
    const mount = this.#points.servingBoth(existing, path, 'link', 'a file has all its names on one')
    mount.askNow((sync) => sync.link(mount.inner(existing), mount.inner(path), ctx))
  }

  protected doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    const mount = this.#points.servingIfAny(path, 'setattr')
    if (mount === undefined || this.#isSynthetic(mount, path, ctx)) throw fixed(path)
    mount.askNow((sync) => sync.setattr(mount.inner(path), changes, ctx))
  }

  #isSynthetic(mount: Mount, path: string, ctx?: CallContext): boolean {
    if (!this.#points.isImplied(path)) return false
    return mount.askNow((sync) => presentNow(sync, mount.inner(path), ctx))?.type !== 'directory'
  }
}
