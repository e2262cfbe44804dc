import { isBinary } from '../../vfs/index.ts'
import { type Documents, PostingWriter } from './posting-list.ts'
import { bucketOf, folded, TRIGRAMS } from './trigrams.ts'

/** How many documents a block has at most. */
export const BLOCK_DOCUMENTS: number = 4096
/** How many postings fill a block, however few documents they come from. */
export const BLOCK_POSTINGS: number = 1 << 22
/** Files above this size are not indexed, but read in every search: few have them, and each change would be dear. */
export const MAX_INDEXED_BYTES: number = 8 * 1024 * 1024
const BUCKET_BYTES = 256
const MAX_BUCKET_BITS = 14
const NEWLINE = 0x0a

/** A block ready to be stored: its documents, and its posting lists in buckets by their trigrams. */
export interface Block {
  /** The inode of each document. */
  readonly inodes: readonly number[]
  /** Documents without postings that may contain anything. */
  readonly unindexed: readonly number[]
  readonly postings: number
  readonly bucketBits: number
  readonly buckets: readonly { readonly number: number; readonly bytes: Uint8Array }[]
}

/** Numbers from 0 for trigrams as they come, in an array that costs memory only where it is touched. */
class Slots {
  readonly #slots = new Uint32Array(TRIGRAMS)
  trigrams: number[] = []

  of(trigram: number): number {
    const known = this.#slots[trigram] ?? 0
    if (known > 0) return known - 1
    const slot = this.trigrams.push(trigram)
    this.#slots[trigram] = slot
    return slot - 1
  }

  clear(): void {
    for (const trigram of this.trigrams) this.#slots[trigram] = 0
    this.trigrams = []
  }
}

/** Collects the trigrams of documents, and makes a block of them. Memory: some bytes for each posting of the block. */
export class BlockBuilder {
  readonly #slots = new Slots()
  /** By slot: the last document that has the trigram, plus one; and how many have it. */
  #lastDocument = new Uint16Array(1 << 16)
  #counts = new Uint16Array(1 << 16)
  /** The postings as they came: slot and document. */
  #postingSlots = new Uint32Array(1 << 16)
  #postingDocuments = new Uint16Array(1 << 16)
  #postings = 0
  #inodes: number[] = []
  #unindexed: number[] = []

  get documents(): number {
    return this.#inodes.length
  }

  get postings(): number {
    return this.#postings
  }

  /** The inode of each document so far. */
  get inodes(): readonly number[] {
    return this.#inodes
  }

  get isFull(): boolean {
    return this.#inodes.length >= BLOCK_DOCUMENTS || this.#postings >= BLOCK_POSTINGS
  }

  /** Adds a file; without bytes, one that has to be read in every search. */
  add(inode: number, bytes: Uint8Array | undefined): void {
    const document = this.addDocument(inode)
    if (bytes === undefined || bytes.length > MAX_INDEXED_BYTES) this.#unindexed.push(document)
    else if (!isBinary(bytes)) this.#addTrigrams(document, bytes)
  }

  /** A document whose postings follow one by one, or are none. */
  addDocument(inode: number): number {
    return this.#inodes.push(inode) - 1
  }

  addPosting(trigram: number, document: number): void {
    const slot = this.#slots.of(trigram)
    if (slot >= this.#counts.length) this.#growSlots()
    if (this.#lastDocument[slot] === document + 1) return
    this.#lastDocument[slot] = document + 1
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
    if (this.#postings === this.#postingSlots.length) this.#growPostings()
    this.#postingSlots[this.#postings] = slot
    this.#postingDocuments[this.#postings++] = document
  }

  /** Everything added since the last time, as a block. */
  take(): Block {
    const taken = { inodes: this.#inodes, unindexed: this.#unindexed, postings: this.#postings }
    const bits = Math.ceil(Math.log2(1 + this.#postings / BUCKET_BYTES))
    const bucketBits = Math.min(bits, MAX_BUCKET_BITS)
    const buckets = this.#buckets(bucketBits)
    this.#lastDocument.fill(0, 0, this.#slots.trigrams.length)
    this.#counts.fill(0, 0, this.#slots.trigrams.length)
    this.#slots.clear()
    this.#postings = 0
    this.#inodes = []
    this.#unindexed = []
    return { ...taken, bucketBits, buckets }
  }

  #addTrigrams(document: number, bytes: Uint8Array): void {
    let trigram = 0
    let length = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = folded[bytes[at] ?? 0] ?? 0
      length = byte === NEWLINE ? 0 : length + 1
      trigram = ((trigram << 8) | byte) & (TRIGRAMS - 1)
      if (length >= 3) this.addPosting(trigram, document)
    }
  }

  #buckets(bits: number): Block['buckets'] {
    const { trigrams } = this.#slots
    const lists = this.#listsBySlot()
    // Bucket and trigram in one number: sorting numbers is much faster than comparing by a function.
    const order = Float64Array.from(
      trigrams,
      (trigram) => bucketOf(trigram, bits) * TRIGRAMS + trigram,
    ).sort()
    const writer = new PostingWriter(this.#inodes.length)
    const buckets: { number: number; bytes: Uint8Array }[] = []
    for (let at = 0; at < order.length; ) {
      const number = Math.floor((order[at] ?? 0) / TRIGRAMS)
      for (; at < order.length && Math.floor((order[at] ?? 0) / TRIGRAMS) === number; at++) {
        const trigram = (order[at] ?? 0) % TRIGRAMS
        writer.add(trigram, lists(this.#slots.of(trigram)))
      }
      buckets.push({ number, bytes: writer.take() })
    }
    return buckets
  }

  /** Sorts the postings by slot; documents came in ascending order and stay so. */
  #listsBySlot(): (slot: number) => Documents {
    const slots = this.#slots.trigrams.length
    const ends = new Uint32Array(slots)
    for (let slot = 1; slot < slots; slot++) {
      ends[slot] = (ends[slot - 1] ?? 0) + (this.#counts[slot - 1] ?? 0)
    }
    const sorted = new Uint16Array(this.#postings)
    for (let at = 0; at < this.#postings; at++) {
      const slot = this.#postingSlots[at] ?? 0
      const place = ends[slot] ?? 0
      ends[slot] = place + 1
      sorted[place] = this.#postingDocuments[at] ?? 0
    }
    return (slot) => sorted.subarray((ends[slot] ?? 0) - (this.#counts[slot] ?? 0), ends[slot] ?? 0)
  }

  #growSlots(): void {
    this.#lastDocument = new Uint16Array(doubled(this.#lastDocument))
    this.#counts = new Uint16Array(doubled(this.#counts))
  }

  #growPostings(): void {
    this.#postingSlots = new Uint32Array(doubled(this.#postingSlots))
    this.#postingDocuments = new Uint16Array(doubled(this.#postingDocuments))
  }
}

/** The same memory with as much again behind it, all zero. */
function doubled({ buffer }: { readonly buffer: ArrayBuffer }): ArrayBuffer {
  return buffer.transfer(buffer.byteLength * 2)
}
