import type { TransferProgress } from './progress.ts'
import { FrameWriter, frames, MAGIC } from './stream-format.ts'
import { encodeJson, type StreamHeader, type StreamOperation } from './stream-operations.ts'

/** Limits of one frame: operations, and their text. */
const OPERATIONS_PER_FRAME = 512
const MAX_FRAME_TEXT_UNITS = 256 * 1024
/** Number of bytes after which the writer is full. */
const MAX_READY_BYTES = 256 * 1024

/** Encodes a stream: each blob in its own frame, operations in batches, each after the blobs it needs. */
export class StreamWriter {
  readonly #frames = new FrameWriter()
  readonly #numbers = new Map<number, number>()
  #ready: Uint8Array[] = []
  #readyBytes = 0
  /** Operations of the next frame, as JSON. */
  #operations: string[] = []
  #units = 0
  readonly #counts = { operations: 0, blobs: 0, bytes: 0 }

  constructor(header: StreamHeader) {
    this.#ready.push(MAGIC)
    this.#push(frames.header, encodeJson(header))
  }

  get progress(): TransferProgress {
    return { done: this.#counts.operations, bytes: this.#counts.bytes }
  }

  get isFull(): boolean {
    return this.#readyBytes >= MAX_READY_BYTES
  }

  /** Returns and removes the encoded bytes. */
  takeReady(): Uint8Array[] {
    const ready = this.#ready
    this.#ready = []
    this.#readyBytes = 0
    return ready
  }

  add(operation: StreamOperation): void {
    const text = JSON.stringify(operation)
    if (this.#operations.length === OPERATIONS_PER_FRAME || this.#units + text.length > MAX_FRAME_TEXT_UNITS)
      this.#flush()
    this.#operations.push(text)
    this.#units += text.length
    this.#counts.operations++
  }

  /** Returns the number of a blob in the stream, if it was sent. */
  findNumber(blob: number): number | undefined {
    return this.#numbers.get(blob)
  }

  /** Adds a blob and returns its number. */
  addBlob(blob: number, bytes: Uint8Array): number {
    const number = this.#counts.blobs++
    this.#numbers.set(blob, number)
    this.#counts.bytes += bytes.length
    this.#push(frames.blob, bytes)
    return number
  }

  end(): void {
    this.#flush()
    this.#push(frames.end, encodeJson({ ...this.#counts, sha256: this.#frames.digest }))
  }

  #flush(): void {
    if (this.#operations.length === 0) return
    this.#push(frames.operations, Buffer.from(`[${this.#operations.join(',')}]`))
    this.#operations = []
    this.#units = 0
  }

  #push(type: number, payload: Uint8Array): void {
    const bytes = this.#frames.encodeFrame(type, payload)
    this.#ready.push(bytes)
    this.#readyBytes += bytes.length
  }
}
