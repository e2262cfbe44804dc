import { type FileHandle, type FileSystem, readFile, type Stat, VfsError } from '../../vfs/index.ts'

/** An open file of a read-only file system. */
export class ReadOnlyHandle implements FileHandle {
  readonly #fs: FileSystem
  readonly #path: string
  #isClosed = false

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs
    this.#path = path
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    this.#assertOpen('read')
    return readFile(this.#fs, this.#path, { byteRange: [position, length] })
  }

  async stat(): Promise<Stat> {
    this.#assertOpen('stat')
    return this.#fs.stat(this.#path)
  }

  async write(): Promise<void> {
    throw new VfsError('EBADF', this.#path, {
      op: 'write',
      detail: 'the file is open for reading only; its file system cannot be changed',
    })
  }

  async truncate(): Promise<void> {
    throw new VfsError('EBADF', this.#path, {
      op: 'truncate',
      detail: 'the file is open for reading only; its file system cannot be changed',
    })
  }

  async sync(): Promise<void> {
    this.#assertOpen('sync')
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #assertOpen(op: string): void {
    if (this.#isClosed)
      throw new VfsError('EBADF', this.#path, { op, detail: 'the handle is closed; open the file again' })
  }
}
