import type { BlobStore, MaybePromise, OperationPlan } from '../../store/index.ts'
import {
  type CallContext,
  type Capability,
  type DirEntry,
  type FileHandle,
  type InodeIdentity,
  isWithin,
  type Match,
  MountTable,
  type OpenOptions,
  type ReadOptions,
  type SearchQuery,
  type Stat,
  type SyncFileSystem,
  VfsError,
  type VfsOperation,
  type WalkEntry,
  type WalkOptions,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import { assertOutsideHistory, HISTORY_ROOT, HistoryFs, type HistorySource } from './history-fs.ts'
import { ReadOnlyHandle } from './read-only-handle.ts'
import { VaultFs } from './vault-fs.ts'
import { VaultSync } from './vault-sync.ts'

/** A vault with its history below `/.coppice`, which is read-only and not listed in the root. */
export abstract class HistoryPathsFs extends VaultFs {
  #historyMount: MountTable | undefined

  constructor(source: FilesSource, blobs: BlobStore, more: readonly Capability[]) {
    super(rejectHistoryChanges(source), blobs, more)
  }

  /** Returns the data of the history paths. */
  protected abstract historySource(): HistorySource

  override open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    const isRead = !options.write && !options.create && !options.truncate
    if (!isRead || !isHistoryPath(path)) return super.open(path, options, ctx)
    return this.call('open', path, ctx, async (checked) => {
      const { type } = await this.#history.stat(checked)
      if (type === 'directory') throw new VfsError('EISDIR', checked, { op: 'open' })
      return new ReadOnlyHandle(this.#history, checked)
    })
  }

  override readlink(path: string, ctx?: CallContext): Promise<string> {
    return isHistoryPath(path) ? this.#history.readlink(path, ctx) : super.readlink(path, ctx)
  }

  protected override makeSync(): SyncFileSystem {
    return new HistoryPathsSync(this.source, this.blobs)
  }

  /** Yields the matches in the history; null for a path outside it. */
  protected searchHistory(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> | null {
    return isHistoryPath(root) ? this.#history.search(root, query, ctx) : null
  }

  protected override assertMutable(op: Parameters<VaultFs['assertMutable']>[0], path: string): void {
    if (isHistoryPath(path))
      throw new VfsError('EROFS', path, { op, detail: 'the history of a vault cannot be changed' })
    super.assertMutable(op, path)
  }

  protected override doIdentity(path: string, ctx?: CallContext): MaybePromise<InodeIdentity> {
    if (isHistoryPath(path))
      throw new VfsError('ENOTSUP', path, {
        op: 'identity',
        detail: 'files of the history have no inode numbers',
      })
    return super.doIdentity(path, ctx)
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return isHistoryPath(path) ? this.#history.exists(path) : super.doExists(path, ctx)
  }

  protected override doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    return isHistoryPath(path) ? this.#history.stat(path) : super.doStat(path, ctx)
  }

  protected override doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return isHistoryPath(path) ? this.#history.readdir(path) : super.doReaddir(path, ctx)
  }

  protected override doRead(
    path: string,
    options: ReadOptions,
    ctx?: CallContext,
  ): AsyncIterable<Uint8Array> {
    return isHistoryPath(path) ? this.#history.read(path, options) : super.doRead(path, options, ctx)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return isHistoryPath(root) ? this.#history.walk(root, options) : super.doWalk(root, options, ctx)
  }

  /** Mounted at its path, so that errors have the requested path. */
  get #history(): MountTable {
    this.#historyMount ??= new MountTable({ [HISTORY_ROOT]: new HistoryFs(this.historySource()) })
    return this.#historyMount
  }
}

/** The synchronous face of the vault, without the history, which needs asynchronous reads. */
class HistoryPathsSync extends VaultSync {
  protected override assertInTree(op: VfsOperation, path: string): void {
    if (!isHistoryPath(path)) return
    const detail = 'the history cannot be read synchronously; use the file system, not its `sync`'
    throw new VfsError('ENOTSUP', path, { op, detail })
  }

  protected override assertMutable(op: VfsOperation, path: string): void {
    if (isHistoryPath(path))
      throw new VfsError('EROFS', path, { op, detail: 'the history of a vault cannot be changed' })
  }
}

function isHistoryPath(path: string): boolean {
  return isWithin(path, HISTORY_ROOT)
}

/** Rejects operations that links lead into the history. */
function rejectHistoryChanges(source: FilesSource): FilesSource {
  const guardPlan = (plan: OperationPlan): OperationPlan => {
    return (files) => {
      const operation = plan(files)
      if (operation !== null) assertOutsideHistory(files, operation)
      return operation
    }
  }
  return {
    openInodes: source.openInodes,
    readFiles: () => source.readFiles(),
    submit: (plan, provenance, extraRecords) => source.submit(guardPlan(plan), provenance, extraRecords),
    submitSync: (plan, provenance) => source.submitSync(guardPlan(plan), provenance),
  }
}
