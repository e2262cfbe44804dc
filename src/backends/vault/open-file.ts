import {
  type Blobs,
  type Files,
  type Provenance,
  patchBytes,
  patchSize,
  readContent,
  statOf,
} from '../../store/index.ts'
import { type CallContext, type FileHandle, type OpenOptions, type Stat, VfsError } from '../../vfs/index.ts'
import { resolved } from './link-free.ts'
import type { FilesSource } from './vault-fs.ts'

export interface OpenParts {
  readonly source: FilesSource
  readonly blobs: Blobs
  readonly by: Provenance
  readonly ctx: CallContext | undefined
}

/** Opens the file a path leads to, made or emptied as asked. ENOENT, EISDIR. */
export async function openFile(
  parts: OpenParts,
  path: string,
  { write = false, create = false, truncate = false }: OpenOptions,
): Promise<FileHandle> {
  const { source, blobs } = parts
  const find = (files: Files) => files.find(resolved(files, path, true, 'open', parts.ctx))
  const inode = await blobs.reader.resolve(() => find(source.read()))
  if (inode === undefined && create) {
    const content = { size: 0, inline: '' }
    await source.submit(
      (files) => (find(files) === undefined ? { op: 'write', path, content, parents: true } : null),
      parts.by,
    )
  }
  const number = inode ?? (await blobs.reader.resolve(() => find(source.read())))
  if (number === undefined) throw new VfsError('ENOENT', path, { op: 'open' })
  const handle = new OpenFile(parts, path, number, write)
  const { type } = await handle.stat()
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
  if (truncate) await handle.truncate(0)
  return handle
}

/** An open file of a vault. It stays with the file when that is renamed. */
class OpenFile implements FileHandle {
  readonly #parts: OpenParts
  readonly #path: string
  readonly #inode: number
  readonly #isWritable: boolean
  #isClosed = false

  constructor(parts: OpenParts, path: string, inode: number, isWritable: boolean) {
    this.#parts = parts
    this.#path = path
    this.#inode = inode
    this.#isWritable = isWritable
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const { blobs } = this.#parts
    const pieces = await this.#look('read', (files) => [
      ...readContent(files, this.#inode, blobs, position, length),
    ])
    // In memory of its own: what the store handed out must never change.
    return new Uint8Array(Buffer.concat(pieces))
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    this.#assertWritable('write')
    const owned = new Uint8Array(bytes)
    await this.#parts.source.submit(
      (files) => patchBytes(this.#target(files, 'write'), position, owned),
      this.#parts.by,
    )
  }

  async truncate(size: number): Promise<void> {
    this.#assertWritable('truncate')
    await this.#parts.source.submit(
      (files) => patchSize(this.#target(files, 'truncate'), size),
      this.#parts.by,
    )
  }

  stat(): Promise<Stat> {
    return this.#look('stat', (files) => statOf(files.inode(this.#inode)))
  }

  async sync(): Promise<void> {
    this.#assertOpen('sync')
    await this.#parts.blobs.reader.engine.sync()
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #look<T>(op: string, see: (files: Files) => T): Promise<T> {
    this.#assertOpen(op)
    const { source, blobs } = this.#parts
    return blobs.reader.resolve(() => see(this.#target(source.read(), op).files))
  }

  #target(files: Files, op: string): { files: Files; blobs: Blobs; inode: number; path: string } {
    if (files.inodeIfPresent(this.#inode) === undefined) {
      throw new VfsError('ENOENT', this.#path, { op, detail: 'the file was removed while it was open' })
    }
    return { files, blobs: this.#parts.blobs, inode: this.#inode, path: this.#path }
  }

  #assertOpen(op: string): void {
    if (this.#isClosed) throw new VfsError('EBADF', this.#path, { op, detail: 'the file was closed' })
  }

  #assertWritable(op: string): void {
    this.#assertOpen(op)
    if (!this.#isWritable) throw new VfsError('EBADF', this.#path, { op, detail: 'opened for reading only' })
  }
}
