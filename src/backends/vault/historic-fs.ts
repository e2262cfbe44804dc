import type { Answer, Blobs, Plan } from '../../store/index.ts'
import {
  type CallContext,
  type Capability,
  type DirEntry,
  type FileHandle,
  type Identity,
  isWithin,
  type Match,
  MountTable,
  type OpenOptions,
  type Operation,
  type ReadOptions,
  type SearchQuery,
  type Stat,
  type SyncFileSystem,
  VfsError,
  type WalkEntry,
  type WalkOptions,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import { assertOutsideHistory, HISTORY, HistoryFs, type HistorySource } from './history-fs.ts'
import { ReadHandle } from './read-handle.ts'
import { VaultFs } from './vault-fs.ts'
import { VaultSync } from './vault-sync.ts'

/** A vault's files with its past among them, at paths that no listing of the root shows and nobody can change. */
export abstract class HistoricFs extends VaultFs {
  #mounted: MountTable | undefined

  constructor(source: FilesSource, blobs: Blobs, more: readonly Capability[]) {
    super(outsideHistory(source), blobs, more)
  }

  /** What the past is made of. */
  protected abstract historySource(): HistorySource

  override open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    const isRead = !options.write && !options.create && !options.truncate
    if (!isRead || !isPast(path)) return super.open(path, options, ctx)
    return this.call('open', path, ctx, async (checked) => {
      const { type } = await this.#past.stat(checked)
      if (type === 'directory') throw new VfsError('EISDIR', checked, { op: 'open' })
      return new ReadHandle(this.#past, checked)
    })
  }

  override readlink(path: string, ctx?: CallContext): Promise<string> {
    return isPast(path) ? this.#past.readlink(path, ctx) : super.readlink(path, ctx)
  }

  protected override makeSync(): SyncFileSystem {
    return new PresentSync(this.source, this.blobs)
  }

  /** The matches in the past; null for a path of the present. */
  protected searchPast(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> | null {
    return isPast(root) ? this.#past.search(root, query, ctx) : null
  }

  protected override assertMutable(op: Parameters<VaultFs['assertMutable']>[0], path: string): void {
    if (isPast(path)) throw new VfsError('EROFS', path, { op, detail: 'the past cannot be changed' })
    super.assertMutable(op, path)
  }

  protected override doIdentity(path: string, ctx?: CallContext): Answer<Identity> {
    if (isPast(path))
      throw new VfsError('ENOTSUP', path, { op: 'identity', detail: 'the past has no numbers' })
    return super.doIdentity(path, ctx)
  }

  protected override doExists(path: string, ctx?: CallContext): boolean | Promise<boolean> {
    return isPast(path) ? this.#past.exists(path) : super.doExists(path, ctx)
  }

  protected override doStat(path: string, ctx?: CallContext): Stat | Promise<Stat> {
    return isPast(path) ? this.#past.stat(path) : super.doStat(path, ctx)
  }

  protected override doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return isPast(path) ? this.#past.readdir(path) : super.doReaddir(path, ctx)
  }

  protected override doRead(
    path: string,
    options: ReadOptions,
    ctx?: CallContext,
  ): AsyncIterable<Uint8Array> {
    return isPast(path) ? this.#past.read(path, options) : super.doRead(path, options, ctx)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return isPast(root) ? this.#past.walk(root, options) : super.doWalk(root, options, ctx)
  }

  /** Mounted where it is seen, so that errors name the path that was asked for. */
  get #past(): MountTable {
    this.#mounted ??= new MountTable({ [HISTORY]: new HistoryFs(this.historySource()) })
    return this.#mounted
  }
}

/** The vault without waiting. Its past has to be waited for. */
class PresentSync extends VaultSync {
  protected override assertPresent(op: Operation, path: string): void {
    if (!isPast(path)) return
    const detail = 'the past can only be read by callers that wait: use the file system, not its `sync`'
    throw new VfsError('ENOTSUP', path, { op, detail })
  }

  protected override assertMutable(op: Operation, path: string): void {
    if (isPast(path)) throw new VfsError('EROFS', path, { op, detail: 'the past cannot be changed' })
  }
}

function isPast(path: string): boolean {
  return isWithin(path, HISTORY)
}

/** Takes no operation which links lead into the past. */
function outsideHistory(source: FilesSource): FilesSource {
  const guarded = (plan: Plan): Plan => {
    return (files) => {
      const operation = plan(files)
      if (operation !== null) assertOutsideHistory(files, operation)
      return operation
    }
  }
  return {
    opens: source.opens,
    read: () => source.read(),
    submit: (plan, by, besides) => source.submit(guarded(plan), by, besides),
    submitNow: (plan, by) => source.submitNow(guarded(plan), by),
  }
}
