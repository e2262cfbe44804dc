import type { FileHandle, Stat } from '../vfs/index.ts'
import type { QuotaChange } from './quota-change.ts'

/** An open file whose changes take room first. ENOSPC, and then nothing of the change is stored. */
export class MeteredHandle implements FileHandle {
  readonly #handle: FileHandle
  readonly #change: () => QuotaChange
  readonly #onResize: () => void

  /** @param onResize told after each change of the size. */
  constructor(handle: FileHandle, change: () => QuotaChange, onResize: () => void) {
    this.#handle = handle
    this.#change = change
    this.#onResize = onResize
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    const owned = new Uint8Array(bytes)
    const { size } = await this.#handle.stat()
    await this.#resized(Math.max(0, position + owned.length - size), () =>
      this.#handle.write(position, owned),
    )
  }

  async truncate(size: number): Promise<void> {
    const { size: old } = await this.#handle.stat()
    await this.#resized(size - old, () => this.#handle.truncate(size))
  }

  stat(): Promise<Stat> {
    return this.#handle.stat()
  }

  sync(): Promise<void> {
    return this.#handle.sync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #resized(bytes: number, run: () => Promise<void>): Promise<void> {
    await using change = this.#change()
    await change.hold({ bytes, files: 0 })
    await run()
    change.succeed()
    if (bytes !== 0) this.#onResize()
  }
}
