import {
  type BlobStore,
  type Inode,
  type Provenance,
  planSize,
  planWrite,
  readContent,
  toStat,
  type VaultFiles,
} from '../../store/index.ts'
import {
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

/** Opens the file a path leads to, made or emptied as asked. ENOENT, EISDIR. */
export function openSyncFileHandle(
  ground: BackingStore,
  path: string,
  { create = false, truncate = false, ...how }: OpenOptions,
  ctx: CallContext | undefined,
): SyncFileHandle {
  const { source } = ground
  const by = toProvenance(ctx)
  const find = (files: VaultFiles) => files.findByPath(resolveFollowing(files, path, true, 'open', ctx))
  const look = <T>(see: (files: VaultFiles) => T) =>
    ground.blobs.reader.runSync(() => see(source.readFiles()))
  if (create && look(find) === undefined) {
    const content = { size: 0, inline: '' }
    source.submitSync(
      (files) => (find(files) === undefined ? { op: 'write', path, content, parents: true } : null),
      by,
    )
  }
  const number = look((files) => {
    const found = find(files)
    if (found === undefined) throw new VfsError('ENOENT', path, { op: 'open' })
    if (files.getInode(found).type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
    return found
  })
  const handle = new VaultSyncFileHandle(path, ground, number, how, by)
  if (truncate) handle.empty()
  return handle
}

/** Converts an inode to a stat with all its fields. */
export function toSyncStat(ino: number, inode: Inode, nlink: number = inode.links): SyncStat {
  return { ...toStat(inode), ino, nlink }
}

/** An open file of a vault, for a caller that cannot wait: each change is committed when the call returns. */
class VaultSyncFileHandle implements SyncFileHandle {
  readonly #path: string
  readonly #file: OpenVaultFile
  readonly #isWritable: boolean
  readonly #isAppending: boolean
  readonly #by: Provenance
  #lastChunk: { readonly blob: number; readonly bytes: Uint8Array } | undefined
  #isClosed = false

  constructor(
    path: string,
    ground: BackingStore,
    inode: number,
    { write = false, append = false }: OpenOptions,
    by: Provenance,
  ) {
    this.#path = path
    this.#file = new OpenVaultFile(path, ground, inode)
    this.#isWritable = write
    this.#isAppending = append
    this.#by = by
  }

  read(position: number, length: number): Uint8Array {
    this.#assertOpen('read')
    assertCount(this.#path, position, 'read')
    assertCount(this.#path, length, 'read')
    const pieces = this.#inspect('read', ({ files, blobs, inode }) => [
      ...readContent(files, inode, this.#cacheLastChunk(blobs), position, length),
    ])
    // In memory of its own: what the store handed out must never change.
    return new Uint8Array(Buffer.concat(pieces))
  }

  write(position: number, bytes: Uint8Array): void {
    this.#assertWritable('write')
    assertCount(this.#path, position, 'write')
    this.#change('write', (target) => planWrite(target, this.#isAppending ? getEnd(target) : position, bytes))
  }

  truncate(size: number): void {
    this.#assertWritable('truncate')
    this.#resize(size)
  }

  /** What opening with `truncate` does, whether or not it is opened for writing. */
  empty(): void {
    this.#resize(0)
  }

  stat(): SyncStat {
    this.#assertOpen('stat')
    return this.#inspect('stat', ({ files, inode }) => {
      const { links } = files.getInode(inode)
      return toSyncStat(inode, files.getInode(inode), this.#file.isLost ? 0 : links)
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

  /** The store does not keep chunks of large files at hand, and whoever reads on needs the last one again. */
  #cacheLastChunk(blobs: BlobStore): Pick<BlobStore, 'get'> {
    const get: BlobStore['get'] = (ref) => {
      if (this.#lastChunk?.blob !== ref.blob) this.#lastChunk = { blob: ref.blob, bytes: blobs.get(ref) }
      return this.#lastChunk.bytes
    }
    return { get }
  }

  #inspect<T>(op: string, see: (target: ReturnType<OpenVaultFile['getTarget']>) => T): T {
    return this.#file.store.blobs.reader.runSync(() => see(this.#file.getTarget(op)))
  }

  #resize(size: number): void {
    assertCount(this.#path, size, 'truncate')
    this.#change('truncate', (target) => {
      const inode = target.files.getInode(target.inode)
      return inode.size === size ? null : planSize(target, inode, size)
    })
  }

  #change(op: string, decide: Parameters<OpenVaultFile['createPlan']>[1]): void {
    const wasLost = this.#file.isLost
    try {
      this.#file.store.source.submitSync(this.#file.createPlan(op, decide), this.#by)
    } catch (error) {
      // Somebody has removed it meanwhile: what is left of it takes the change.
      if (wasLost || !isVfsError(error, 'ENOENT')) throw error
      this.#file.getTarget(op)
      this.#file.store.source.submitSync(this.#file.createPlan(op, decide), this.#by)
    }
  }

  #assertOpen(op: string): void {
    if (this.#isClosed) throw new VfsError('EBADF', this.#path, { op, detail: 'the file was closed' })
  }

  #assertWritable(op: string): void {
    this.#assertOpen(op)
    if (!this.#isWritable) throw new VfsError('EBADF', this.#path, { op, detail: 'opened for reading only' })
  }
}

function assertCount(path: string, value: number, op: string): void {
  if (Number.isSafeInteger(value) && value >= 0) return
  throw new VfsError('EINVAL', path, { op, detail: `${value} is not a whole number from 0 on` })
}
