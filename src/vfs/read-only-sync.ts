import { CheckedSyncFileSystem } from './checked-sync-file-system.ts'
import { VfsError } from './error.ts'
import type { VfsOperation } from './events.ts'
import type { CallContext, DirEntry, FileSystem } from './file-system.ts'
import type { OpenOptions, RealpathOptions } from './protocols.ts'
import { isSynchronous, type SyncFileHandle, type SyncFileSystem, type SyncStat } from './sync-file-system.ts'

/** The synchronous face of a read-only file system. Every mutation throws EROFS. */
export class ReadOnlySync extends CheckedSyncFileSystem {
  readonly #fs: FileSystem

  constructor(fs: FileSystem) {
    super()
    this.#fs = fs
  }

  protected override assertMutable(op: VfsOperation, path: string): void {
    throw new VfsError('EROFS', path, { op })
  }

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    return this.#inner(path).stat(path, ctx)
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    return this.#inner(path).readdir(path, ctx)
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    return this.#inner(path).open(path, options, ctx)
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    return this.#inner(path).readlink(path, ctx)
  }

  protected doRealpath(path: string, options: RealpathOptions, ctx?: CallContext): string {
    return this.#inner(path).realpath(path, options, ctx)
  }

  // `assertMutable` throws before any of these is called.
  protected doMkdir(): void {}
  protected doRemove(): void {}
  protected doRmdir(): void {}
  protected doRename(): void {}
  protected doSymlink(): void {}
  protected doLink(): void {}
  protected doSetattr(): void {}

  #inner(path: string): SyncFileSystem {
    const fs = this.#fs
    if (isSynchronous(fs)) return fs.sync
    throw new VfsError('ENOTSUP', path, {
      detail: 'this file system has no synchronous interface; use the asynchronous one',
    })
  }
}
