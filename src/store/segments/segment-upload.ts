import { Mutex } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { BlobRow, HashRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { type ChunkHashes, hashChunk } from './hash-chunks.ts'
import { hashInThread } from './hash-thread.ts'
import { createSegmentName, encodeInlineRow, encodeReference, FIRST_SEGMENT_BLOB } from './segment-row.ts'
import { SEGMENT_BYTES, type SegmentStore } from './segment-store.ts'

/** Chunks of fewer bytes together are rows: a file or object costs more. */
const MIN_SEGMENT_BYTES = 64 * 1024
/** Limit of attempts to refer to stored blobs that a collection is removing. */
const MAX_REUSE_ATTEMPTS = 3

interface HashedChunk extends ChunkHashes {
  readonly bytes: Uint8Array
}

/** A chunk, its hashes and its blob, which may be stored already. */
interface PlannedChunk extends HashedChunk {
  readonly blob: number
  readonly isFresh: boolean
}

/** Stores chunks of a held upload in segments, each content once. Their rows wait for a commit of the upload. */
export class SegmentUpload {
  readonly #reader: EngineReader
  readonly #segments: SegmentStore
  readonly #nextId: () => number
  /** Chunks are planned in order: the second of two equal ones refers to the first. */
  readonly #planning = new Mutex()
  readonly #byHash = new Map<string, number>()
  readonly #storing = new Set<Promise<unknown>>()
  #rows: BlobRow[] = []
  /** Rows with the content itself. */
  #inlineRows: BlobRow[] = []
  #inlineBytes = 0
  /** True after the first full segment: others will follow, and a thread pays. */
  #isLarge = false
  /** Segments that no attempted commit names. */
  #unnamed: string[] = []

  constructor(reader: EngineReader, segments: SegmentStore, nextId: () => number) {
    this.#reader = reader
    this.#segments = segments
    this.#nextId = nextId
  }

  get concurrency(): number {
    return this.#segments.concurrency
  }

  /** Number of rows that wait for a commit. */
  get rowCount(): number {
    return this.#rows.length + this.#inlineRows.length
  }

  /** Size of the content in waiting rows. */
  get inlineBytes(): number {
    return this.#inlineBytes
  }

  /**
   * Stores chunks in one segment, or as rows if they are small or the disk has no space for a segment. Their bytes must
   * not change until it returns. EIO if the segment cannot be written.
   */
  async store(chunks: readonly Uint8Array[]): Promise<BlobRef[]> {
    const storing = this.#store(chunks)
    this.#storing.add(storing)
    try {
      return await storing
    } finally {
      this.#storing.delete(storing)
    }
  }

  async #store(chunks: readonly Uint8Array[]): Promise<BlobRef[]> {
    const hashed = await this.#hash(chunks)
    const planned = await this.#planning.run(() => this.#plan(hashed))
    const fresh = planned.filter(({ isFresh }) => isFresh)
    if (fresh.length > 0) await this.#put(fresh)
    return planned.map(({ blob, bytes, crc }) => ({ blob, size: bytes.length, crc }))
  }

  /**
   * Takes the rows for a commit, which may happen even if it fails: from here on only a collection removes segments.
   */
  takeRows(): BlobRow[] {
    const rows = [...this.#rows, ...this.takeInlineRows()]
    this.#rows = []
    this.#unnamed = []
    return rows
  }

  /** Takes the rows that name no segment. */
  takeInlineRows(): BlobRow[] {
    const rows = this.#inlineRows
    this.#inlineRows = []
    this.#inlineBytes = 0
    return rows
  }

  /** Deletes the segments that no commit can name: the space is free at once. */
  async discard(): Promise<void> {
    await Promise.allSettled(this.#storing)
    for (const name of this.#unnamed.splice(0)) {
      try {
        await this.#segments.delete(name)
      } catch {
        // A collection removes it.
      }
    }
  }

  /** Hashes chunks: full segments of a large stream in a thread, so that reading and writing go on meanwhile. */
  async #hash(chunks: readonly Uint8Array[]): Promise<HashedChunk[]> {
    const [whole, ...others] = joinNeighbours(chunks)
    const isFull = whole?.length === SEGMENT_BYTES && others.length === 0
    if (this.#isLarge && isFull && whole.buffer instanceof SharedArrayBuffer) {
      try {
        const { buffer: memory, byteOffset: start } = whole
        const hashes = await hashInThread({ memory, start, sizes: chunks.map(({ length }) => length) })
        return chunks.map((bytes, index) => ({ bytes, ...(hashes[index] ?? hashChunk(bytes)) }))
      } catch {
        // No thread can be started here.
      }
    }
    this.#isLarge ||= isFull
    return chunks.map((bytes) => ({ bytes, ...hashChunk(bytes) }))
  }

  /** Chooses the blob of each chunk: a stored one, one of an equal chunk, or a new one. */
  async #plan(chunks: readonly HashedChunk[]): Promise<PlannedChunk[]> {
    const stored = await this.#findStored(chunks.map(({ hash }) => hash))
    const ids = await this.#reader.run(() => chunks.map(() => FIRST_SEGMENT_BLOB + this.#nextId()))
    return chunks.map((chunk, index) => {
      const key = toHashKey(chunk.hash)
      const reused = this.#byHash.get(key) ?? stored.get(key)
      if (reused !== undefined) return { ...chunk, blob: reused, isFresh: false }
      const blob = ids[index] ?? 0
      if (chunk.hash.length > 0) this.#byHash.set(key, blob)
      return { ...chunk, blob, isFresh: true }
    })
  }

  /**
   * Finds stored blobs by hash. Confirmed by a commit: as the upload is held, no collection removes them afterwards.
   */
  async #findStored(hashes: readonly Uint8Array[]): Promise<Map<string, number>> {
    const wanted = hashes.filter((hash) => hash.length > 0 && !this.#byHash.has(toHashKey(hash)))
    for (let tries = 0; tries < MAX_REUSE_ATTEMPTS; tries++) {
      const found = await Promise.all(wanted.map((hash) => this.#reader.fetchBlobId(hash)))
      const requires: HashRow[] = wanted.flatMap((hash, index) => {
        const blob = found[index]
        return blob === undefined ? [] : [{ hash, blob }]
      })
      if (requires.length === 0 || (await this.#reader.engine.commit({ requires })))
        return new Map(requires.map(({ hash, blob }) => [toHashKey(hash), blob]))
    }
    return new Map()
  }

  /** Puts chunks into a segment; into rows if they are small, or if only the engine has space left in its own file. */
  async #put(chunks: readonly PlannedChunk[]): Promise<void> {
    const size = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (size < MIN_SEGMENT_BYTES) this.#putInline(chunks)
    else {
      try {
        await this.#putSegment(chunks)
      } catch (error) {
        if (!isVfsError(error, 'ENOSPC')) throw error
        this.#putInline(chunks)
      }
    }
  }

  #putInline(chunks: readonly PlannedChunk[]): void {
    for (const { blob, hash, bytes } of chunks) {
      this.#inlineRows.push({ id: blob, hash, bytes: encodeInlineRow(bytes) })
      this.#inlineBytes += bytes.length
    }
  }

  async #putSegment(chunks: readonly PlannedChunk[]): Promise<void> {
    const segment = createSegmentName()
    this.#unnamed.push(segment)
    await this.#segments.put(segment, joinNeighbours(chunks.map(({ bytes }) => bytes)))
    let offset = 0
    for (const { blob, hash, bytes } of chunks) {
      this.#rows.push({
        id: blob,
        hash,
        bytes: encodeReference({ segment, offset, length: bytes.length, hash }),
      })
      offset += bytes.length
    }
  }
}

/** Joins chunks that are next to each other in memory, so that they are written at once. */
function joinNeighbours(chunks: readonly Uint8Array[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const chunk of chunks) {
    const last = parts.at(-1)
    const isNext =
      last !== undefined && last.buffer === chunk.buffer && last.byteOffset + last.length === chunk.byteOffset
    if (isNext)
      parts[parts.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.length + chunk.length)
    else parts.push(chunk)
  }
  return parts
}

function toHashKey(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1')
}
