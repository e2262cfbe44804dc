/** Reads varints and length-prefixed bytes in sequence. RangeError past the end. */
export class ByteCursor {
  readonly #bytes: Buffer
  #offset = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#bytes.length
  }

  readVarint(): number {
    for (let [value, factor] = [0, 1]; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.#offset++)
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      if (factor > Number.MAX_SAFE_INTEGER) throw new RangeError('the number does not end')
    }
  }

  /** Reads a little-endian number of `length` bytes. */
  readFixed(length: number): number {
    return this.readBytes(length).readUIntLE(0, length)
  }

  readBytes(length: number): Buffer {
    const end = this.#offset + length
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early')
    const found = this.#bytes.subarray(this.#offset, end)
    this.#offset = end
    return found
  }
}
