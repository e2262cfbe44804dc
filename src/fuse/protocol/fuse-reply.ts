import type { FuseRequest } from './fuse-request.ts'

const HEADER_BYTES = 16
const ERROR = 4
const UNIQUE = 8
const HIGH = 2 ** 32
/** Limit in bytes for a reply, with room for a header. */
const CAPACITY = 1024 * 1024 + 4096

/**
 * The reply to one request, in a buffer that the next reply reuses. Fields are appended in order.
 * `tail` adds content after them without copying it.
 */
export class FuseReply {
  readonly #buffer: Buffer = Buffer.allocUnsafe(CAPACITY)
  #length = HEADER_BYTES
  #tail: Uint8Array | undefined

  /** Starts an empty success reply. */
  begin(request: FuseRequest): void {
    this.#length = HEADER_BYTES
    this.#tail = undefined
    this.#buffer.writeUInt32LE(0, ERROR)
    request.copyUnique(this.#buffer, UNIQUE)
  }

  /** Turns the reply into an error and discards its fields. */
  setError(errno: number): void {
    this.#length = HEADER_BYTES
    this.#tail = undefined
    this.#buffer.writeInt32LE(-errno, ERROR)
  }

  /** Returns the reply in one or two pieces. The next reply overwrites the first one. */
  pieces(): readonly Uint8Array[] {
    const tail = this.#tail
    this.#buffer.writeUInt32LE(this.#length + (tail?.length ?? 0), 0)
    const head = this.#buffer.subarray(0, this.#length)
    return tail === undefined || tail.length === 0 ? [head] : [head, tail]
  }

  /** Number of bytes after the header. */
  get length(): number {
    return this.#length - HEADER_BYTES
  }

  /** Number of bytes that still fit. */
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
    // Times before 1970 are negative, in two's complement.
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

  /** Adds content after all fields. */
  tail(value: Uint8Array): void {
    this.#tail = value
  }
}
