import { CheckedSyncFileSystem } from '../checked-sync-file-system.ts'
import type { CallContext, DirEntry, MkdirOptions, RemoveOptions } from '../file-system.ts'
import type { OpenOptions, RealpathOptions, RenameOptions, StatChanges } from '../protocols.ts'
import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import type { MemoryFiles } from './memory-files.ts'
import { toStat } from './nodes.ts'

/** The synchronous face of a `MemoryFs`. */
export class MemorySync extends CheckedSyncFileSystem {
  readonly #files: MemoryFiles

  constructor(files: MemoryFiles) {
    super()
    this.#files = files
  }

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    const node = this.#files.getNode(path, 'stat', false, ctx)
    return { ...toStat(node), ...this.#files.identity(node) }
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    return this.#files.list(path, ctx)
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    return this.#files.open(path, options, ctx)
  }

  protected doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    this.#files.mkdir(path, options, ctx)
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#files.remove(path, options, ctx)
  }

  protected doRmdir(path: string, ctx?: CallContext): void {
    this.#files.rmdir(path, ctx)
  }

  protected doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void {
    this.#files.rename(from, to, options, ctx)
  }

  protected doSymlink(target: string, path: string, ctx?: CallContext): void {
    this.#files.symlink(target, path, ctx)
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    return this.#files.readlink(path, ctx)
  }

  protected doRealpath(path: string, { followLast = false }: RealpathOptions, ctx?: CallContext): string {
    return this.#files.resolve(path, followLast, 'realpath', ctx)
  }

  protected doLink(existing: string, path: string, ctx?: CallContext): void {
    this.#files.link(existing, path, ctx)
  }

  protected doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    this.#files.setattr(path, changes, ctx)
  }
}
