import { isBinary } from '../../vfs/index.ts'
import { type Documents, PostingWriter } from './posting-list.ts'
import { lowerCaseBytes, TRIGRAM_COUNT, toBucket } from './trigrams.ts'

/** Limit of documents per block. */
export const BLOCK_DOCUMENTS: number = 4096
/** Number of postings that fill a block, however few documents they come from. */
export const BLOCK_POSTINGS: number = 1 << 22
/** Limit in bytes for indexed files. Every search reads larger ones: they are few, and reindexing them is expensive. */
export const MAX_INDEXED_BYTES: number = 8 * 1024 * 1024
/** Number of postings in a bucket, at most on average; each takes about a byte. */
const BUCKET_POSTINGS = 256
const MAX_BUCKET_BITS = 14
const NEWLINE = 0x0a

/** A block to store: its documents, and its posting lists in buckets by trigram. */
export interface IndexBlock {
  /** Inode of each document. */
  readonly inodes: readonly number[]
  /** Documents without postings, which every search reads. */
  readonly unindexed: readonly number[]
  /** Number of postings. */
  readonly postings: number
  /** There are two to the power of this many buckets; empty ones are left out. */
  readonly bucketBits: number
  readonly buckets: readonly { readonly number: number; readonly bytes: Uint8Array }[]
}

/** Collects the trigrams of documents into a block. Memory: some bytes per posting of the block. */
export class BlockBuilder {
  /** Slot of each trigram, from 1 in order of appearance. Costs memory only where it is touched. */
  readonly #slots = new Uint32Array(TRIGRAM_COUNT)
  /** Trigram of each slot, and the last document that has it, from 1. */
  #trigrams = new Uint32Array(1 << 16)
  #lastDocument = new Uint16Array(1 << 16)
  #slotCount = 0
  /** Slots of all documents, one after another, and the end of each document's slots. */
  #postings = new Uint32Array(1 << 16)
  #ends: number[] = []
  #postingCount = 0
  #inodes: number[] = []
  #unindexed: number[] = []

  get documents(): number {
    return this.#inodes.length
  }

  get postings(): number {
    return this.#postingCount
  }

  /** Inode of each document so far. */
  get inodes(): readonly number[] {
    return this.#inodes
  }

  get isFull(): boolean {
    return this.#inodes.length >= BLOCK_DOCUMENTS || this.#postingCount >= BLOCK_POSTINGS
  }

  /** Adds a file. Without bytes, or if it is too large, every search reads it; a binary file is no candidate. */
  add(inode: number, bytes: Uint8Array | undefined): void {
    const isIndexed = bytes !== undefined && bytes.length <= MAX_INDEXED_BYTES
    if (!isIndexed) this.#unindexed.push(this.#inodes.length)
    else if (!isBinary(bytes)) this.#collectTrigrams(bytes)
    this.#endDocument(inode)
  }

  /** Adds a file whose trigrams are known. */
  addTrigrams(inode: number, trigrams: readonly number[]): void {
    this.#reserve(trigrams.length)
    for (const trigram of trigrams) this.#addPosting(trigram, this.#inodes.length + 1)
    this.#endDocument(inode)
  }

  /** Returns everything added since the last call as a block. */
  takeBlock(): IndexBlock {
    const documents = { inodes: this.#inodes, unindexed: this.#unindexed, postings: this.#postingCount }
    const bits = Math.ceil(Math.log2(1 + this.#postingCount / BUCKET_POSTINGS))
    const bucketBits = Math.min(bits, MAX_BUCKET_BITS)
    const buckets = this.#createBuckets(bucketBits)
    for (let slot = 1; slot <= this.#slotCount; slot++) this.#slots[this.#trigrams[slot] ?? 0] = 0
    this.#lastDocument.fill(0, 0, this.#slotCount + 1)
    this.#slotCount = 0
    this.#postingCount = 0
    this.#ends = []
    this.#inodes = []
    this.#unindexed = []
    return { ...documents, bucketBits, buckets }
  }

  #endDocument(inode: number): void {
    this.#inodes.push(inode)
    this.#ends.push(this.#postingCount)
  }

  /** Hot loop of indexing: nearly every byte of every file passes here. */
  #collectTrigrams(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    const [slots, lastDocument, postings] = [this.#slots, this.#lastDocument, this.#postings]
    const document = this.#inodes.length + 1
    let count = this.#postingCount
    let trigram = 0
    let length = 0
    for (let offset = 0; offset < bytes.length; offset++) {
      const byte = lowerCaseBytes[bytes[offset] ?? 0] ?? 0
      length = byte === NEWLINE ? 0 : length + 1
      trigram = ((trigram << 8) | byte) & (TRIGRAM_COUNT - 1)
      if (length < 3) continue
      const slot = (slots[trigram] ?? 0) || this.#createSlot(trigram)
      if (lastDocument[slot] === document) continue
      lastDocument[slot] = document
      postings[count++] = slot
    }
    this.#postingCount = count
  }

  #addPosting(trigram: number, document: number): void {
    const slot = (this.#slots[trigram] ?? 0) || this.#createSlot(trigram)
    if (this.#lastDocument[slot] === document) return
    this.#lastDocument[slot] = document
    this.#postings[this.#postingCount++] = slot
  }

  #createSlot(trigram: number): number {
    const slot = ++this.#slotCount
    this.#trigrams[slot] = trigram
    this.#slots[trigram] = slot
    return slot
  }

  #createBuckets(bits: number): IndexBlock['buckets'] {
    const lists = this.#groupPostingsBySlot()
    // Bucket and trigram in one number: sorting numbers is much faster than a comparison function.
    const order = Float64Array.from(
      this.#trigrams.subarray(1, this.#slotCount + 1),
      (trigram) => toBucket(trigram, bits) * TRIGRAM_COUNT + trigram,
    ).sort()
    const writer = new PostingWriter(this.#inodes.length)
    const buckets: { number: number; bytes: Uint8Array }[] = []
    for (let index = 0; index < order.length; ) {
      const number = Math.floor((order[index] ?? 0) / TRIGRAM_COUNT)
      for (; index < order.length && Math.floor((order[index] ?? 0) / TRIGRAM_COUNT) === number; index++) {
        const trigram = (order[index] ?? 0) % TRIGRAM_COUNT
        writer.add(trigram, lists(this.#slots[trigram] ?? 0))
      }
      buckets.push({ number, bytes: writer.takeBytes() })
    }
    return buckets
  }

  /** Groups the postings by slot; documents stay in ascending order. */
  #groupPostingsBySlot(): (slot: number) => Documents {
    const postings = this.#postings.subarray(0, this.#postingCount)
    // Start of each slot's list; once it is filled, that of the next one.
    const starts = new Uint32Array(this.#slotCount + 2)
    for (let index = 0; index < postings.length; index++) {
      const next = (postings[index] ?? 0) + 1
      starts[next] = (starts[next] ?? 0) + 1
    }
    for (let slot = 1; slot < starts.length; slot++) {
      starts[slot] = (starts[slot] ?? 0) + (starts[slot - 1] ?? 0)
    }
    const sorted = new Uint16Array(postings.length)
    const free = starts.slice()
    for (let document = 0, index = 0; document < this.#ends.length; document++) {
      for (const end = this.#ends[document] ?? 0; index < end; index++) {
        const slot = postings[index] ?? 0
        const freeSlot = free[slot] ?? 0
        free[slot] = freeSlot + 1
        sorted[freeSlot] = document
      }
    }
    return (slot) => sorted.subarray(starts[slot] ?? 0, starts[slot + 1] ?? 0)
  }

  /** Reserves space for `count` postings, each of which may need a new slot. */
  #reserve(count: number): void {
    while (this.#postingCount + count > this.#postings.length) {
      this.#postings = new Uint32Array(doubleBuffer(this.#postings))
    }
    while (this.#slotCount + Math.min(count, TRIGRAM_COUNT) + 1 > this.#trigrams.length) {
      this.#trigrams = new Uint32Array(doubleBuffer(this.#trigrams))
      this.#lastDocument = new Uint16Array(doubleBuffer(this.#lastDocument))
    }
  }
}

/** Returns the buffer doubled in size, padded with zeros. */
function doubleBuffer({ buffer }: { readonly buffer: ArrayBuffer }): ArrayBuffer {
  return buffer.transfer(buffer.byteLength * 2)
}
