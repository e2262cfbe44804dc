import {
  type BlobStore,
  countLinks,
  type Inode,
  type Provenance,
  planSize,
  planWrite,
  readContent,
  toStat,
  type VaultFiles,
} from '../../store/index.ts'
import {
  assertCount,
  assertHandleWrite,
  type CallContext,
  isVfsError,
  type OpenOptions,
  type SyncFileHandle,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import { type BackingStore, getEnd, OpenVaultFile } from './open-vault-file.ts'
import { resolveFollowing } from './resolve-paths.ts'
import { toProvenance } from './to-provenance.ts'

/** Opens a file, following links; creates or truncates it on request. ENOENT, EISDIR. */
export function openSyncFileHandle(
  store: BackingStore,
  path: string,
  { create = false, truncate = false, ...access }: OpenOptions,
  ctx: CallContext | undefined,
): SyncFileHandle {
  const { source } = store
  const provenance = toProvenance(ctx)
  const find = (files: VaultFiles) => files.findByPath(resolveFollowing(files, path, true, 'open', ctx))
  const inspect = <T>(read: (files: VaultFiles) => T) =>
    store.blobs.reader.runSync(() => read(source.readFiles()))
  if (create && inspect(find) === undefined) {
    const content = { size: 0, inline: '' }
    source.submitSync(
      (files) => (find(files) === undefined ? { op: 'write', path, content, parents: true } : null),
      provenance,
    )
  }
  const number = inspect((files) => {
    const found = find(files)
    if (found === undefined) throw new VfsError('ENOENT', path, { op: 'open' })
    if (files.getInode(found).type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
    return found
  })
  const handle = new VaultSyncFileHandle(path, store, number, access, provenance)
  try {
    if (truncate) handle.empty()
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Converts an inode to a stat with all its fields. */
export function toSyncStat(ino: number, inode: Inode, nlink: number = countLinks(inode)): SyncStat {
  return { ...toStat(inode), ino, nlink }
}

/** A synchronous open file of a vault. Each change is committed when the call returns. */
class VaultSyncFileHandle implements SyncFileHandle {
  readonly #path: string
  readonly #file: OpenVaultFile
  readonly #isWritable: boolean
  readonly #isAppending: boolean
  readonly #provenance: Provenance
  #lastChunk: { readonly blob: number; readonly bytes: Uint8Array } | undefined
  #isClosed = false

  constructor(
    path: string,
    store: BackingStore,
    inode: number,
    { write = false, append = false }: OpenOptions,
    provenance: Provenance,
  ) {
    this.#path = path
    this.#file = new OpenVaultFile(path, store, inode)
    this.#isWritable = write
    this.#isAppending = append
    this.#provenance = provenance
  }

  read(position: number, length: number): Uint8Array {
    this.#assertOpen('read')
    assertCount(this.#path, position, 'read')
    assertCount(this.#path, length, 'read')
    const pieces = this.#inspect('read', ({ files, blobs, inode }) => [
      ...readContent(files, inode, this.#cacheLastChunk(blobs), position, length),
    ])
    // Copied, because memory of the store must never change.
    return new Uint8Array(Buffer.concat(pieces))
  }

  write(position: number, bytes: Uint8Array): void {
    this.#assertWritable('write')
    assertHandleWrite(this.#path, position, bytes)
    this.#change('write', (target) => planWrite(target, this.#isAppending ? getEnd(target) : position, bytes))
  }

  truncate(size: number): void {
    this.#assertWritable('truncate')
    this.#resize(size)
  }

  /** Truncates at open, whatever the access mode. */
  empty(): void {
    this.#resize(0)
  }

  stat(): SyncStat {
    this.#assertOpen('stat')
    return this.#inspect('stat', ({ files, inode }) => {
      const { links } = files.getInode(inode)
      return toSyncStat(inode, files.getInode(inode), this.#file.isOrphan ? 0 : links)
    })
  }

  sync(): void {
    this.#assertOpen('sync')
    const { source, blobs } = this.#file.store
    source.readFiles()
    blobs.reader.engine.sync()
  }

  close(): void {
    if (!this.#isClosed) this.#file.close()
    this.#isClosed = true
    this.#lastChunk = undefined
  }

  /**
   * Caches the last chunk, because the store does not cache chunks of large files and a sequential read needs it again.
   */
  #cacheLastChunk(blobs: BlobStore): Pick<BlobStore, 'get'> {
    const get: BlobStore['get'] = (ref) => {
      if (this.#lastChunk?.blob !== ref.blob) this.#lastChunk = { blob: ref.blob, bytes: blobs.get(ref) }
      return this.#lastChunk.bytes
    }
    return { get }
  }

  #inspect<T>(op: string, read: (target: ReturnType<OpenVaultFile['getTarget']>) => T): T {
    return this.#file.store.blobs.reader.runSync(() => read(this.#file.getTarget(op)))
  }

  #resize(size: number): void {
    assertCount(this.#path, size, 'truncate')
    this.#change('truncate', (target) => {
      const inode = target.files.getInode(target.inode)
      return inode.size === size ? null : planSize(target, inode, size)
    })
  }

  #change(op: string, decide: Parameters<OpenVaultFile['createPlan']>[1]): void {
    const wasOrphan = this.#file.isOrphan
    try {
      this.#file.store.source.submitSync(this.#file.createPlan(op, decide), this.#provenance)
    } catch (error) {
      // Another caller unlinked the file meanwhile: apply the change to the orphan.
      if (wasOrphan || !isVfsError(error, 'ENOENT')) throw error
      this.#file.getTarget(op)
      this.#file.store.source.submitSync(this.#file.createPlan(op, decide), this.#provenance)
    }
  }

  #assertOpen(op: string): void {
    if (this.#isClosed)
      throw new VfsError('EBADF', this.#path, { op, detail: 'the handle is closed; open the file again' })
  }

  #assertWritable(op: string): void {
    this.#assertOpen(op)
    if (!this.#isWritable)
      throw new VfsError('EBADF', this.#path, {
        op,
        detail: 'the file is open for reading only; open it with write: true',
      })
  }
}
