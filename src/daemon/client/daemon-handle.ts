import { type FileHandle, type Stat, VfsError } from '../../vfs/index.ts'
import type { DaemonClient } from './daemon-client.ts'

/** Bytes that fit in one line of the protocol. */
const MAX_WRITE_BYTES = 4 * 1024 * 1024

/** A device that a daemon holds open for this program. Devices have no offsets, so positions are ignored. */
export class DaemonHandle implements FileHandle {
  readonly #client: DaemonClient
  readonly #handle: number
  readonly #path: string
  #isClosed = false

  constructor(client: DaemonClient, handle: number, path: string) {
    this.#client = client
    this.#handle = handle
    this.#path = path
  }

  async read(_position: number, length: number): Promise<Uint8Array> {
    const handle = this.#handle
    return Buffer.from(await this.#client.call('read_handle', { handle, length }), 'base64')
  }

  /** Writes a request. EFBIG if it is too long for the protocol. */
  async write(_position: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_WRITE_BYTES) {
      const detail = `the request is too long; the limit is ${MAX_WRITE_BYTES} bytes`
      throw new VfsError('EFBIG', this.#path, { op: 'write', detail })
    }
    const base64 = Buffer.from(bytes).toString('base64')
    await this.#client.call('write_handle', { handle: this.#handle, base64 })
  }

  async truncate(): Promise<void> {
    throw new VfsError('EINVAL', this.#path, { op: 'truncate', detail: 'a device has no size' })
  }

  async stat(): Promise<Stat> {
    return { type: 'other', size: 0, mtime: new Date(0), mode: null }
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#client.call('close_handle', { handle: this.#handle })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
