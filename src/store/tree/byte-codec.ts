const encoder = new TextEncoder()

const MAX_INT32 = 2 ** 31 - 1
/** Length below which plain text is written without an encoder. */
const SHORT_TEXT_LENGTH = 64

/** Writes numbers, text and bytes into a growing buffer. */
export class ByteWriter {
  #buffer = new Uint8Array(4096)
  #length = 0

  /** Returns a copy of the bytes and clears the writer. */
  takeBytes(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length)
    this.#length = 0
    return bytes
  }

  /** Returns a view of the bytes so far. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  uint32(value: number): void {
    this.#reserve(4)
    for (let shift = 0; shift < 32; shift += 8) this.#buffer[this.#length++] = (value >>> shift) & 0xff
  }

  /** Writes an integer from 0 to 2^53 in seven bits per byte. RangeError for a negative one. */
  varint(value: number): void {
    if (value < 0) throw new RangeError(`${value} is negative`)
    this.#reserve(8)
    let large = value
    for (; large > MAX_INT32; large = Math.floor(large / 0x80))
      this.#buffer[this.#length++] = (large % 0x80) + 0x80
    // Shifts take a fraction of the time of divisions.
    let rest = large | 0
    for (; rest >= 0x80; rest >>= 7) this.#buffer[this.#length++] = (rest & 0x7f) | 0x80
    this.#buffer[this.#length++] = rest
  }

  /** Writes a text of less than 2 MiB. */
  text(value: string): void {
    // A unit takes three bytes at most, and almost always one: the length is written once it is known.
    this.#reserve(value.length * 3 + 5)
    if (value.length < SHORT_TEXT_LENGTH && this.#tryWriteAscii(value)) return
    const lengthAt = this.#length
    const guess = value.length < 0x80 ? 1 : 2
    const { written } = encoder.encodeInto(value, this.#buffer.subarray(lengthAt + guess))
    const needed = written < 0x80 ? 1 : written < 0x4000 ? 2 : 3
    if (needed !== guess)
      this.#buffer.copyWithin(lengthAt + needed, lengthAt + guess, lengthAt + guess + written)
    this.varint(written)
    this.#length = lengthAt + needed + written
  }

  /** Writes short ASCII text unit by unit, which is faster than an encoder. */
  #tryWriteAscii(value: string): boolean {
    const buffer = this.#buffer
    const start = this.#length + 1
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index)
      if (unit >= 0x80) return false
      buffer[start + index] = unit
    }
    buffer[this.#length] = value.length
    this.#length = start + value.length
    return true
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.append(value)
  }

  /** Appends bytes without their length. */
  append(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count))
    larger.set(this.view())
    this.#buffer = larger
  }
}

/** Reads the output of a `ByteWriter`. RangeError past the end: the bytes are damaged. */
export class ByteReader {
  readonly #buffer: Buffer
  #offset: number

  constructor(bytes: Uint8Array, start = 0) {
    // A Buffer decodes text without a view for each piece.
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#offset = start
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#buffer.length
  }

  byte(): number {
    const value = this.#buffer[this.#offset++]
    if (value === undefined) throw new RangeError('the bytes end too early')
    return value
  }

  uint32(): number {
    return (this.byte() | (this.byte() << 8) | (this.byte() << 16) | (this.byte() << 24)) >>> 0
  }

  varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const next = this.byte()
      value += (next & 0x7f) * factor
      if (next < 0x80) return value
    }
  }

  text(): string {
    const [start, end] = this.#readRange()
    return this.#buffer.toString('utf8', start, end)
  }

  /** Returns a view, which keeps the whole buffer in memory. */
  bytes(): Uint8Array {
    const [start, end] = this.#readRange()
    return this.#buffer.subarray(start, end)
  }

  #readRange(): readonly [start: number, end: number] {
    const length = this.varint()
    const start = this.#offset
    this.#offset += length
    if (this.#offset > this.#buffer.length) throw new RangeError('the bytes end too early')
    return [start, this.#offset]
  }
}
