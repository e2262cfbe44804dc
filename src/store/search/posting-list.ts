/**
 * Documents of a block, ascending. The index is made of blocks, each of some thousand files, which it numbers from 0 as
 * its documents. A posting list has the documents that contain a trigram: three bytes in sequence. A bucket of a block
 * has the lists of the trigrams with the same hash.
 */
export type Documents = Uint16Array

/**
 * Writes the posting lists of one bucket. A list is its trigram, as the difference to the one before; its length in
 * bytes and its form; and its documents. Those are differences of one or two bytes or, if that is shorter, a bitmap.
 */
export class PostingWriter {
  readonly #documents: number
  #buffer = new Uint8Array(64 * 1024)
  #length = 0
  #trigram = 0

  /** @param documents number of documents in the block; at most 2^14 */
  constructor(documents: number) {
    this.#documents = documents
  }

  /** Adds the list of a trigram; trigrams must ascend. */
  add(trigram: number, documents: Documents): void {
    this.#reserve(documents.length * 2 + 16)
    this.#writeVarint(trigram - this.#trigram)
    this.#trigram = trigram
    const bitmapBytes = (this.#documents + 7) >> 3
    if (documents.length > bitmapBytes) this.#addBitmap(documents, bitmapBytes)
    else this.#addDifferences(documents)
  }

  /** Returns the bucket as bytes and begins another one. */
  takeBytes(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length)
    this.#length = 0
    this.#trigram = 0
    return bytes
  }

  #addBitmap(documents: Documents, length: number): void {
    this.#writeVarint(length * 2 + 1)
    const bits = this.#buffer.subarray(this.#length, this.#length + length).fill(0)
    for (let index = 0; index < documents.length; index++) {
      const document = documents[index] ?? 0
      bits[document >> 3] = (bits[document >> 3] ?? 0) | (1 << (document & 7))
    }
    this.#length += length
  }

  #addDifferences(documents: Documents): void {
    this.#writeVarint(countDifferenceBytes(documents) * 2)
    const buffer = this.#buffer
    let length = this.#length
    let next = 0
    for (let index = 0; index < documents.length; index++) {
      const document = documents[index] ?? 0
      const difference = document - next
      if (difference < 0x80) buffer[length++] = difference
      else {
        buffer[length++] = (difference & 0x7f) | 0x80
        buffer[length++] = difference >> 7
      }
      next = document + 1
    }
    this.#length = length
  }

  #writeVarint(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[this.#length++] = (rest & 0x7f) | 0x80
    this.#buffer[this.#length++] = rest
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count))
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}

/** Returns the size of the differences in bytes. */
function countDifferenceBytes(documents: Documents): number {
  let length = documents.length
  let next = 0
  for (let index = 0; index < documents.length; index++) {
    const document = documents[index] ?? 0
    if (document - next >= 0x80) length++
    next = document + 1
  }
  return length
}

/** Reads what a `PostingWriter` wrote. */
export class PostingReader {
  readonly #bytes: Uint8Array
  #offset = 0
  #trigram = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns the list of a trigram; empty if the bucket has none. Reads from the start, so a reader finds only once. */
  find(trigram: number): Documents {
    for (let next = this.#readHeader(); next !== undefined; next = this.#readHeader()) {
      if (next.trigram === trigram) return decodeDocuments(this.#readBytes(next.length), next.isBitmap)
      if (next.trigram > trigram) break
      this.#offset += next.length
    }
    return new Uint16Array(0)
  }

  *[Symbol.iterator](): Generator<{ trigram: number; documents: Documents }> {
    for (let next = this.#readHeader(); next !== undefined; next = this.#readHeader()) {
      yield { trigram: next.trigram, documents: decodeDocuments(this.#readBytes(next.length), next.isBitmap) }
    }
  }

  #readHeader(): { trigram: number; length: number; isBitmap: boolean } | undefined {
    if (this.#offset >= this.#bytes.length) return undefined
    this.#trigram += this.#readVarint()
    const form = this.#readVarint()
    return { trigram: this.#trigram, length: form >>> 1, isBitmap: (form & 1) === 1 }
  }

  #readBytes(length: number): Uint8Array {
    this.#offset += length
    return this.#bytes.subarray(this.#offset - length, this.#offset)
  }

  #readVarint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const next = this.#bytes[this.#offset++] ?? 0
      value |= (next & 0x7f) << shift
      if (next < 0x80) return value
    }
  }
}

function decodeDocuments(bytes: Uint8Array, isBitmap: boolean): Documents {
  // No list is longer than its bytes, or their bits.
  const documents = new Uint16Array(isBitmap ? bytes.length * 8 : bytes.length)
  let count = 0
  if (isBitmap) {
    for (let document = 0; document < documents.length; document++) {
      if (((bytes[document >> 3] ?? 0) >> (document & 7)) & 1) documents[count++] = document
    }
  } else {
    let previous = -1
    for (let offset = 0; offset < bytes.length; offset++) {
      const low = bytes[offset] ?? 0
      previous += 1 + (low < 0x80 ? low : (low & 0x7f) | ((bytes[++offset] ?? 0) << 7))
      documents[count++] = previous
    }
  }
  return documents.subarray(0, count)
}
