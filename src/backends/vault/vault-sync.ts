import { type BlobStore, type OperationPlan, toInlineText, type VaultFiles } from '../../store/index.ts'
import {
  type CallContext,
  CheckedSyncFileSystem,
  type DirEntry,
  type MkdirOptions,
  type OpenOptions,
  type RealpathOptions,
  type RemoveOptions,
  type RenameOptions,
  type StatChanges,
  type SyncFileHandle,
  type SyncStat,
  VfsError,
  type VfsOperation,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import {
  createLinkPlan,
  createMkdirPlan,
  createRemovePlan,
  createRenamePlan,
  createRmdirPlan,
  createSetattrPlan,
  createSymlinkPlan,
} from './path-plans.ts'
import { resolveFollowing, resolveInode } from './resolve-paths.ts'
import { openSyncFileHandle, toSyncStat } from './sync-file-handle.ts'
import { toProvenance } from './to-provenance.ts'

/**
 * The synchronous face of a vault. It shares the log, so both faces see each other's changes immediately. A mutation is
 * committed when the call returns, together with pending mutations of the asynchronous face.
 */
export class VaultSync extends CheckedSyncFileSystem {
  readonly #source: FilesSource
  readonly #blobs: BlobStore

  constructor(source: FilesSource, blobs: BlobStore) {
    super()
    this.#source = source
    this.#blobs = blobs
  }

  /** Does nothing. A subclass throws for a path that is not in the tree. */
  protected assertInTree(_op: VfsOperation, _path: string): void {}

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    this.assertInTree('stat', path)
    return this.#inspect((files) => {
      const number = resolveInode(files, path, false, 'stat', ctx)
      return toSyncStat(number, files.getInode(number))
    })
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    this.assertInTree('readdir', path)
    return this.#inspect((files) => {
      const number = resolveInode(files, path, true, 'readdir', ctx)
      if (files.getInode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
      return Array.from(files.listEntries(number), ({ name, type }) => ({ name, type }))
    })
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    this.assertInTree('open', path)
    return openSyncFileHandle({ source: this.#source, blobs: this.#blobs }, path, options, ctx)
  }

  protected doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    this.#submit(createMkdirPlan(path, options, ctx), ctx)
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#submit(createRemovePlan(path, options, ctx), ctx)
  }

  protected doRmdir(path: string, ctx?: CallContext): void {
    this.#submit(createRmdirPlan(path, ctx), ctx)
  }

  protected doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void {
    this.assertMutable('rename', to)
    this.#submit(createRenamePlan(from, to, options, ctx), ctx)
  }

  protected doSymlink(target: string, path: string, ctx?: CallContext): void {
    this.#submit(createSymlinkPlan(target, path, ctx), ctx)
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    this.assertInTree('readlink', path)
    const { type, content } = this.#inspect((files) =>
      files.getInode(resolveInode(files, path, false, 'readlink', ctx)),
    )
    if (type === 'symlink') return toInlineText(content)
    throw new VfsError('EINVAL', path, { op: 'readlink', detail: 'not a symbolic link' })
  }

  protected doRealpath(path: string, { followLast = false }: RealpathOptions, ctx?: CallContext): string {
    return this.#inspect((files) => resolveFollowing(files, path, followLast, 'realpath', ctx))
  }

  protected doLink(existing: string, path: string, ctx?: CallContext): void {
    this.assertMutable('link', path)
    this.#submit(createLinkPlan(existing, path, ctx), ctx)
  }

  protected doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    this.#submit(createSetattrPlan(path, changes, ctx), ctx)
  }

  #inspect<T>(read: (files: VaultFiles) => T): T {
    return this.#blobs.reader.runSync(() => read(this.#source.readFiles()))
  }

  #submit(plan: OperationPlan, ctx: CallContext | undefined): void {
    this.#source.submitSync(plan, toProvenance(ctx))
  }
}
