import {
  type Provenance,
  patchBytes,
  patchSize,
  readContent,
  toStat,
  type VaultFiles,
} from '../../store/index.ts'
import {
  assertCount,
  assertHandleWrite,
  type CallContext,
  type FileHandle,
  isVfsError,
  type OpenOptions,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import { type BackingStore, getEnd, OpenVaultFile } from './open-vault-file.ts'
import { resolveFollowing } from './resolve-paths.ts'

export interface OpenFileContext extends BackingStore {
  readonly provenance: Provenance
  readonly ctx: CallContext | undefined
}

/** Opens a file, following links; creates or truncates it on request. ENOENT, EISDIR. */
export async function openFileHandle(
  parts: OpenFileContext,
  path: string,
  { create = false, truncate = false, ...access }: OpenOptions,
): Promise<FileHandle> {
  const { source, blobs } = parts
  const find = (files: VaultFiles) => files.findByPath(resolveFollowing(files, path, true, 'open', parts.ctx))
  const inode = await blobs.reader.run(() => find(source.readFiles()))
  if (inode === undefined && create) {
    const content = { size: 0, inline: '' }
    await source.submit(
      (files) => (find(files) === undefined ? { op: 'write', path, content, parents: true } : null),
      parts.provenance,
    )
  }
  const number = inode ?? (await blobs.reader.run(() => find(source.readFiles())))
  if (number === undefined) throw new VfsError('ENOENT', path, { op: 'open' })
  const handle = new VaultFileHandle(path, new OpenVaultFile(path, parts, number), parts.provenance, access)
  try {
    const { type } = await handle.stat()
    if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
    if (truncate) await handle.empty()
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** An open file of a vault. */
class VaultFileHandle implements FileHandle {
  readonly #path: string
  readonly #file: OpenVaultFile
  readonly #provenance: Provenance
  readonly #isWritable: boolean
  readonly #isAppending: boolean
  #isClosed = false

  constructor(
    path: string,
    file: OpenVaultFile,
    provenance: Provenance,
    { write = false, append = false }: OpenOptions,
  ) {
    this.#path = path
    this.#file = file
    this.#provenance = provenance
    this.#isWritable = write
    this.#isAppending = append
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    assertCount(this.#path, position, 'read')
    assertCount(this.#path, length, 'read')
    const pieces = await this.#inspect('read', ({ files, blobs, inode }) => [
      ...readContent(files, inode, blobs, position, length),
    ])
    // Copied, because memory of the store must never change.
    return new Uint8Array(Buffer.concat(pieces))
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    this.#assertWritable('write')
    assertHandleWrite(this.#path, position, bytes)
    const owned = new Uint8Array(bytes)
    await this.#change('write', (target) =>
      patchBytes(target, this.#isAppending ? getEnd(target) : position, owned),
    )
  }

  async truncate(size: number): Promise<void> {
    this.#assertWritable('truncate')
    assertCount(this.#path, size, 'truncate')
    await this.#change('truncate', (target) => patchSize(target, size))
  }

  /** Truncates at open, whatever the access mode. */
  async empty(): Promise<void> {
    await this.#change('truncate', (target) => patchSize(target, 0))
  }

  stat(): Promise<Stat> {
    return this.#inspect('stat', ({ files, inode }) => toStat(files.getInode(inode)))
  }

  async sync(): Promise<void> {
    this.#assertOpen('sync')
    await this.#file.store.blobs.reader.engine.sync()
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#file.close()
    this.#isClosed = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #inspect<T>(op: string, inspect: (target: ReturnType<OpenVaultFile['getTarget']>) => T): Promise<T> {
    this.#assertOpen(op)
    return this.#file.store.blobs.reader.run(() => inspect(this.#file.getTarget(op)))
  }

  async #change(op: string, decide: Parameters<OpenVaultFile['createPlan']>[1]): Promise<void> {
    const submit = () => this.#file.store.source.submit(this.#file.createPlan(op, decide), this.#provenance)
    try {
      await submit()
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      // Another caller unlinked the file meanwhile: apply the change to the orphan, if there is one.
      await this.#inspect(op, () => {})
      await submit()
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
