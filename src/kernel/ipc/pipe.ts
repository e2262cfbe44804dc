import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile, DeviceStat } from '../device/index.ts'

/** Bytes that a pipe buffers before its writer waits. */
const CAPACITY = 64 * 1024

/** Two open files: bytes written to one are read from the other. */
export interface Pipe {
  readonly writer: DeviceFile
  readonly reader: DeviceFile
}

/** Creates a pipe. `stopped` ends a waiting read when the reading process stops. */
export function createPipe(path: string, stopped: AbortSignal): Pipe {
  const buffer = new PipeBuffer(path)
  return { writer: new WriteEnd(path, buffer), reader: new ReadEnd(path, buffer, stopped) }
}

class PipeBuffer {
  readonly #path: string
  #chunks: Uint8Array[] = []
  #size = 0
  #waiting = new Set<() => void>()
  isWriterClosed = false
  isReaderClosed = false

  constructor(path: string) {
    this.#path = path
  }

  get size(): number {
    return this.#size
  }

  /** Waits for room. Splits a write larger than the pipe. EPIPE once the reader has closed. */
  async write(data: Uint8Array, signal?: AbortSignal): Promise<void> {
    let rest = data.slice()
    while (rest.length > 0) {
      signal?.throwIfAborted()
      if (this.isReaderClosed) {
        const detail = 'the reader has closed the pipe; nobody gets what is written'
        throw new VfsError('EPIPE', this.#path, { op: 'write', detail })
      }
      const room = CAPACITY - this.#size
      if (room === 0) {
        await this.#waitForChange(signal)
        continue
      }
      this.#chunks.push(rest.subarray(0, room))
      this.#size += Math.min(room, rest.length)
      rest = rest.subarray(room)
      this.wake()
    }
  }

  /** Waits for bytes; returns none at the end. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    while (this.#size === 0 && !this.isWriterClosed && !this.isReaderClosed) {
      signal.throwIfAborted()
      await this.#waitForChange(signal)
    }
    const [first] = this.#chunks
    if (first === undefined) return new Uint8Array()
    const bytes = first.subarray(0, length)
    if (bytes.length === first.length) this.#chunks.shift()
    else this.#chunks[0] = first.subarray(length)
    this.#size -= bytes.length
    this.wake()
    return bytes
  }

  wake(): void {
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }

  async #waitForChange(signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    this.#waiting.add(resolve)
    signal?.addEventListener('abort', end, { once: true })
    await promise
    signal?.removeEventListener('abort', end)
  }
}

class WriteEnd implements DeviceFile {
  readonly #path: string
  readonly #buffer: PipeBuffer

  constructor(path: string, buffer: PipeBuffer) {
    this.#path = path
    this.#buffer = buffer
  }

  async read(): Promise<Uint8Array> {
    throw new VfsError('EINVAL', this.#path, { op: 'read', detail: 'this is the write end of the pipe' })
  }

  write(data: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#buffer.write(data, signal)
  }

  async close(): Promise<void> {
    this.#buffer.isWriterClosed = true
    this.#buffer.wake()
  }

  async stat(): Promise<DeviceStat> {
    return { size: this.#buffer.size, modified: new Date() }
  }
}

class ReadEnd implements DeviceFile {
  readonly #path: string
  readonly #buffer: PipeBuffer
  readonly #stopped: AbortSignal

  constructor(path: string, buffer: PipeBuffer, stopped: AbortSignal) {
    this.#path = path
    this.#buffer = buffer
    this.#stopped = stopped
  }

  read(length: number): Promise<Uint8Array> {
    return this.#buffer.read(length, this.#stopped)
  }

  async write(): Promise<void> {
    throw new VfsError('EINVAL', this.#path, { op: 'write', detail: 'this is the read end of the pipe' })
  }

  async close(): Promise<void> {
    this.#buffer.isReaderClosed = true
    this.#buffer.wake()
  }

  async stat(): Promise<DeviceStat> {
    return { size: this.#buffer.size, modified: new Date() }
  }
}
