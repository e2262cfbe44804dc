import type { Stat } from '../file-system.ts'
import type { FileHandle } from '../protocols.ts'
import type { SyncFileHandle } from '../sync-file-system.ts'

/** Adapts a synchronous handle to the asynchronous interface. */
export class AsyncHandle implements FileHandle {
  readonly #handle: SyncFileHandle

  constructor(handle: SyncFileHandle) {
    this.#handle = handle
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    this.#handle.write(position, bytes)
  }

  async truncate(size: number): Promise<void> {
    this.#handle.truncate(size)
  }

  async stat(): Promise<Stat> {
    const { type, size, mtime, mode } = this.#handle.stat()
    return { type, size, mtime, mode }
  }

  async sync(): Promise<void> {
    this.#handle.sync()
  }

  async close(): Promise<void> {
    this.#handle.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
