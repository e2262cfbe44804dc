import { assertCount, assertHandleWrite, type FileHandle, type OpenOptions, type Stat } from '../vfs/index.ts'
import type { QuotaChange } from './quota-change.ts'

/** An open file that reserves quota before each change. A change beyond it throws ENOSPC and stores nothing. */
export class MeteredHandle implements FileHandle {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #isAppending: boolean
  readonly #createChange: () => QuotaChange
  readonly #onResize: () => void

  /** @param onResize called after each change of the size. */
  constructor(
    path: string,
    handle: FileHandle,
    { append = false }: Pick<OpenOptions, 'append'>,
    createChange: () => QuotaChange,
    onResize: () => void,
  ) {
    this.#path = path
    this.#handle = handle
    this.#isAppending = append
    this.#createChange = createChange
    this.#onResize = onResize
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    assertHandleWrite(this.#path, position, bytes)
    const owned = new Uint8Array(bytes)
    const more = this.#isAppending ? owned.length : await this.#measureGrowth(position + owned.length)
    await this.#runResize(more, () => this.#handle.write(position, owned))
  }

  async truncate(size: number): Promise<void> {
    assertCount(this.#path, size, 'truncate')
    const { size: old } = await this.#handle.stat()
    await this.#runResize(size - old, () => this.#handle.truncate(size))
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

  async #measureGrowth(end: number): Promise<number> {
    const { size } = await this.#handle.stat()
    return Math.max(0, end - size)
  }

  async #runResize(bytes: number, run: () => Promise<void>): Promise<void> {
    await using change = this.#createChange()
    await change.reserve({ bytes, files: 0 })
    await run()
    change.complete()
    if (bytes !== 0) this.#onResize()
  }
}
