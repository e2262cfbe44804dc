import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import type { Mount } from './mount.ts'

/** An open file of a mount, with errors and inode numbers translated to the namespace. */
export class MountedHandle implements SyncFileHandle {
  readonly #mount: Mount
  readonly #handle: SyncFileHandle

  constructor(mount: Mount, handle: SyncFileHandle) {
    this.#mount = mount
    this.#handle = handle
  }

  read(position: number, length: number): Uint8Array {
    return this.#call((handle) => handle.read(position, length))
  }

  write(position: number, bytes: Uint8Array): void {
    this.#call((handle) => handle.write(position, bytes))
  }

  truncate(size: number): void {
    this.#call((handle) => handle.truncate(size))
  }

  stat(): SyncStat {
    return this.#mount.withTableIno(this.#call((handle) => handle.stat()))
  }

  sync(): void {
    this.#call((handle) => handle.sync())
  }

  close(): void {
    this.#call((handle) => handle.close())
  }

  #call<T>(call: (handle: SyncFileHandle) => T): T {
    try {
      return call(this.#handle)
    } catch (error) {
      throw this.#mount.translateError(error)
    }
  }
}
