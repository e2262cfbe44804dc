import { type FileHandle, type Stat, VfsError } from '../../vfs/index.ts'
import type { DeviceFile } from './device.ts'

/** An open device as a file handle. Devices have no offsets, so positions are ignored. */
export class DeviceHandle implements FileHandle {
  readonly #file: DeviceFile

  constructor(file: DeviceFile) {
    this.#file = file
  }

  read(_position: number, length: number): Promise<Uint8Array> {
    return this.#file.read(length)
  }

  write(_position: number, bytes: Uint8Array): Promise<void> {
    return this.#file.write(bytes)
  }

  async truncate(): Promise<void> {
    throw new VfsError('EINVAL', '/', { op: 'truncate', detail: 'a device has no size' })
  }

  async stat(): Promise<Stat> {
    const { size, modified } = await this.#file.stat()
    return { type: 'other', size, mtime: modified, mode: null }
  }

  async sync(): Promise<void> {}

  close(): Promise<void> {
    return this.#file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
