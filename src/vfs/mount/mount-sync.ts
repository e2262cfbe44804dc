import { CheckedSyncFileSystem } from '../checked-sync-file-system.ts'
import { VfsError } from '../error.ts'
import type { CallContext, DirEntry, MkdirOptions, RemoveOptions } from '../file-system.ts'
import { statIfPresentSync } from '../helpers/stat-if-present.ts'
import { dirname } from '../path.ts'
import type { OpenOptions, RealpathOptions, RenameOptions, StatChanges } from '../protocols.ts'
import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import type { Mount } from './mount.ts'
import type { MountPoints } from './mount-points.ts'
import { MountedSyncHandle } from './mounted-handle.ts'
import { createFixedAttributesError, createSyntheticStat } from './synthetic-directory.ts'

/** The synchronous face of a mount table. Throws ENOTSUP for a mount without one. */
export class MountSync extends CheckedSyncFileSystem {
  readonly #points: MountPoints

  constructor(points: MountPoints) {
    super()
    this.#points = points
  }

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    const mount = this.#points.findServingMount(path, 'stat')
    if (mount === undefined || this.#isSynthetic(mount, path, ctx)) {
      return { ...createSyntheticStat(), ino: this.#points.syntheticIno(path), nlink: 1 }
    }
    return mount.withTableIno(mount.callSync((sync) => sync.stat(mount.toInnerPath(path), ctx)))
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    const mount = this.#points.findServingMount(path, 'readdir')
    const names = this.#points.findNamesIn(path) ?? []
    const isReal = mount !== undefined && !this.#isSynthetic(mount, path, ctx)
    const real = isReal ? mount.callSync((sync) => sync.readdir(mount.toInnerPath(path), ctx)) : []
    if (names.length === 0) return real
    const entries = new Map(real.map((entry) => [entry.name, entry]))
    for (const name of names) entries.set(name, { name, type: 'directory' })
    return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    const mount = this.#points.getFileMount(path, 'open')
    return new MountedSyncHandle(
      mount,
      mount.callSync((sync) => sync.open(mount.toInnerPath(path), options, ctx)),
    )
  }

  protected doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) {
      if (options.parents) return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    const mount = this.#points.getServingMount(path, 'mkdir')
    const mayBeSynthetic = this.#points.findNamesIn(dirname(path)) !== undefined
    mount.callSync((sync) => {
      // The parent may exist only because a mount is below it; `parents` has the backend make it along the way.
      const needsParent =
        mayBeSynthetic && statIfPresentSync(sync, mount.toInnerPath(dirname(path)), ctx) === null
      sync.mkdir(mount.toInnerPath(path), needsParent ? { ...options, parents: true } : options, ctx)
    })
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#points.assertNoMountPoint(path, 'remove')
    const mount = this.#points.getServingMount(path, 'remove')
    mount.callSync((sync) => sync.remove(mount.toInnerPath(path), options, ctx))
  }

  protected doRmdir(path: string, ctx?: CallContext): void {
    this.#points.assertNoMountPoint(path, 'rmdir')
    const mount = this.#points.getServingMount(path, 'rmdir')
    mount.callSync((sync) => sync.rmdir(mount.toInnerPath(path), ctx))
  }

  protected doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void {
    this.#points.assertNoMountPoint(from, 'rename')
    this.#points.assertNoMountPoint(to, 'rename')
    const mount = this.#points.getCommonMount(from, to, 'rename', 'copy the file and remove the original')
    mount.callSync((sync) => sync.rename(mount.toInnerPath(from), mount.toInnerPath(to), options, ctx))
  }

  protected doSymlink(target: string, path: string, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) throw new VfsError('EEXIST', path, { op: 'symlink' })
    const mount = this.#points.getServingMount(path, 'symlink')
    mount.callSync((sync) => sync.symlink(target, mount.toInnerPath(path), ctx))
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    const mount = this.#points.getServingMount(path, 'readlink')
    return mount.callSync((sync) => sync.readlink(mount.toInnerPath(path), ctx))
  }

  protected doRealpath(path: string, options: RealpathOptions, ctx?: CallContext): string {
    const mount = this.#points.route(path)
    if (mount === undefined || this.#points.isImplied(path)) return path
    const real = mount.toOuterPath(
      mount.callSync((sync) => sync.realpath(mount.toInnerPath(path), options, ctx)),
    )
    if (this.#points.route(real) === mount) return real
    const detail = `a symbolic link leads to '${real}', which is on another mount`
    throw new VfsError('EXDEV', path, { op: 'realpath', mount: mount.path, detail })
  }

  protected doLink(existing: string, path: string, ctx?: CallContext): void {
    if (this.#points.isImplied(path)) throw new VfsError('EEXIST', path, { op: 'link' })
    if (this.#points.isImplied(existing)) throw new VfsError('EISDIR', existing, { op: 'link' })
    const mount = this.#points.getCommonMount(existing, path, 'link', 'hard links cannot cross mounts')
    mount.callSync((sync) => sync.link(mount.toInnerPath(existing), mount.toInnerPath(path), ctx))
  }

  protected doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    const mount = this.#points.findServingMount(path, 'setattr')
    if (mount === undefined || this.#isSynthetic(mount, path, ctx)) throw createFixedAttributesError(path)
    mount.callSync((sync) => sync.setattr(mount.toInnerPath(path), changes, ctx))
  }

  #isSynthetic(mount: Mount, path: string, ctx?: CallContext): boolean {
    if (!this.#points.isImplied(path)) return false
    return (
      mount.callSync((sync) => statIfPresentSync(sync, mount.toInnerPath(path), ctx))?.type !== 'directory'
    )
  }
}
