import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile, DeviceStat } from './device.ts'

/** Read-only content, fixed at open. Writes fail with EROFS. */
export class SnapshotFile implements DeviceFile {
  readonly #path: string
  readonly #bytes: Uint8Array
  readonly #modified = new Date()
  #position = 0

  constructor(path: string, content: string) {
    this.#path = path
    this.#bytes = new TextEncoder().encode(content)
  }

  async read(length: number): Promise<Uint8Array> {
    const bytes = this.#bytes.subarray(this.#position, this.#position + length)
    this.#position += bytes.length
    return bytes
  }

  async write(): Promise<void> {
    throw new VfsError('EROFS', this.#path, { op: 'write', detail: 'this file is read-only' })
  }

  async close(): Promise<void> {}

  async stat(): Promise<DeviceStat> {
    return { size: this.#bytes.length, modified: this.#modified }
  }
}
