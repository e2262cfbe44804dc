import type { FuseRequest } from './fuse-request.ts'

const HEADER_BYTES = 16
const ERROR = 4
const UNIQUE = 8
const HIGH = 2 ** 32
/** What a request may ask for at most, with some room for a header. */
const CAPACITY = 1024 * 1024 + 4096

/**
 * The answer to one request, made in a buffer that is used again for the next. Fields are put one behind the other;
 * `tail` is content that is sent behind them without being copied.
 */
export class FuseReply {
  readonly #buffer: Buffer = Buffer.allocUnsafe(CAPACITY)
  #length = HEADER_BYTES
  #tail: Uint8Array | undefined

  /** Starts an answer that says it was done, with nothing behind that. */
  begin(request: FuseRequest): void {
    this.#length = HEADER_BYTES
    this.#tail = undefined
    this.#buffer.writeUInt32LE(0, ERROR)
    request.copyUnique(this.#buffer, UNIQUE)
  }

  /** Makes it a refusal, whatever was put before. */
  setError(errno: number): void {
    this.#length = HEADER_BYTES
    this.#tail = undefined
    this.#buffer.writeInt32LE(-errno, ERROR)
  }

  /** The answer as it goes to the kernel: one piece, or two. The first is overwritten by the next answer. */
  pieces(): readonly Uint8Array[] {
    const tail = this.#tail
    this.#buffer.writeUInt32LE(this.#length + (tail?.length ?? 0), 0)
    const head = this.#buffer.subarray(0, this.#length)
    return tail === undefined || tail.length === 0 ? [head] : [head, tail]
  }

  /** How many bytes were put behind the header. */
  get length(): number {
    return this.#length - HEADER_BYTES
  }

  /** How many more can be put. */
  get room(): number {
    return CAPACITY - this.#length
  }

  u16(value: number): void {
    this.#length = this.#buffer.writeUInt16LE(value, this.#length)
  }

  u32(value: number): void {
    this.#length = this.#buffer.writeUInt32LE(value >>> 0, this.#length)
  }

  u64(value: number): void {
    const high = Math.floor(value / HIGH)
    this.#buffer.writeUInt32LE(value - high * HIGH, this.#length)
    // Times before 1970 are negative, and written as two's complement.
    this.#length = this.#buffer.writeInt32LE(high | 0, this.#length + 4)
  }

  zeros(count: number): void {
    this.#buffer.fill(0, this.#length, this.#length + count)
    this.#length += count
  }

  bytes(value: Uint8Array): void {
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  text(value: string): void {
    this.#length += this.#buffer.write(value, this.#length)
  }

  /** Sends content behind everything else. */
  tail(value: Uint8Array): void {
    this.#tail = value
  }
}
