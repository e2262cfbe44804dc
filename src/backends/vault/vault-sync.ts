import { type Blobs, type Files, inlineText, type Plan } from '../../store/index.ts'
import {
  type CallContext,
  CheckedSyncFileSystem,
  type DirEntry,
  type MkdirOptions,
  type OpenOptions,
  type Operation,
  type RealpathOptions,
  type RemoveOptions,
  type RenameOptions,
  type StatChanges,
  type SyncFileHandle,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import { numberAt, resolved } from './link-free.ts'
import {
  attributesPlan,
  linkPlan,
  mkdirPlan,
  removePlan,
  renamePlan,
  rmdirPlan,
  symlinkPlan,
} from './path-plans.ts'
import { provenanceOf } from './provenance.ts'
import { openNow, syncStatOf } from './sync-handle.ts'

/**
 * A vault for callers that cannot wait: the same log, so that both faces see each other's changes at once. A mutation is
 * committed when it returns, together with whatever callers of the other face have not awaited yet.
 */
export class VaultSync extends CheckedSyncFileSystem {
  readonly #source: FilesSource
  readonly #blobs: Blobs

  constructor(source: FilesSource, blobs: Blobs) {
    super()
    this.#source = source
    this.#blobs = blobs
  }

  /** Refuses what is not among the files of the tree. */
  protected assertPresent(_op: Operation, _path: string): void {}

  protected doStat(path: string, ctx?: CallContext): SyncStat {
    this.assertPresent('stat', path)
    return this.#look((files) => {
      const number = numberAt(files, path, false, 'stat', ctx)
      return syncStatOf(number, files.inode(number))
    })
  }

  protected doReaddir(path: string, ctx?: CallContext): DirEntry[] {
    this.assertPresent('readdir', path)
    return this.#look((files) => {
      const number = numberAt(files, path, true, 'readdir', ctx)
      if (files.inode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
      return Array.from(files.entries(number), ({ name, type }) => ({ name, type }))
    })
  }

  protected doOpen(path: string, options: OpenOptions, ctx?: CallContext): SyncFileHandle {
    this.assertPresent('open', path)
    return openNow({ source: this.#source, blobs: this.#blobs }, path, options, ctx)
  }

  protected doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void {
    this.#submit(mkdirPlan(path, options, ctx), ctx)
  }

  protected doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void {
    this.#submit(removePlan(path, options, ctx), ctx)
  }

  protected doRmdir(path: string, ctx?: CallContext): void {
    this.#submit(rmdirPlan(path, ctx), ctx)
  }

  protected doRename(from: string, to: string, options: RenameOptions, ctx?: CallContext): void {
    this.assertMutable('rename', to)
    this.#submit(renamePlan(from, to, options, ctx), ctx)
  }

  protected doSymlink(target: string, path: string, ctx?: CallContext): void {
    this.#submit(symlinkPlan(target, path, ctx), ctx)
  }

  protected doReadlink(path: string, ctx?: CallContext): string {
    this.assertPresent('readlink', path)
    const { type, content } = this.#look((files) =>
      files.inode(numberAt(files, path, false, 'readlink', ctx)),
    )
    if (type === 'symlink') return inlineText(content)
    throw new VfsError('EINVAL', path, { op: 'readlink', detail: 'not a symbolic link' })
  }

  protected doRealpath(path: string, { followLast = false }: RealpathOptions, ctx?: CallContext): string {
    return this.#look((files) => resolved(files, path, followLast, 'realpath', ctx))
  }

  protected doLink(existing: string, path: string, ctx?: CallContext): void {
    this.assertMutable('link', path)
    this.#submit(linkPlan(existing, path, ctx), ctx)
  }

  protected doSetattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    this.#submit(attributesPlan(path, changes, ctx), ctx)
  }

  #look<T>(see: (files: Files) => T): T {
    return this.#blobs.reader.resolveNow(() => see(this.#source.read()))
  }

  #submit(plan: Plan, ctx: CallContext | undefined): void {
    this.#source.submitNow(plan, provenanceOf(ctx))
  }
}
