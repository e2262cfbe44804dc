import type { Stat } from '../file-system.ts'
import type { FileHandle } from '../protocols.ts'
import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import type { Mount } from './mount.ts'

/** An open file of a mount, with its errors translated to the namespace. */
export class MountedHandle implements FileHandle {
  readonly #mount: Mount
  readonly #handle: FileHandle

  constructor(mount: Mount, handle: FileHandle) {
    this.#mount = mount
    this.#handle = handle
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#mount.call(() => this.#handle.read(position, length))
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    return this.#mount.call(() => this.#handle.write(position, bytes))
  }

  truncate(size: number): Promise<void> {
    return this.#mount.call(() => this.#handle.truncate(size))
  }

  stat(): Promise<Stat> {
    return this.#mount.call(() => this.#handle.stat())
  }

  sync(): Promise<void> {
    return this.#mount.call(() => this.#handle.sync())
  }

  close(): Promise<void> {
    return this.#mount.call(() => this.#handle.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The same for a synchronous handle, with its inode number translated as well. */
export class MountedSyncHandle implements SyncFileHandle {
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
