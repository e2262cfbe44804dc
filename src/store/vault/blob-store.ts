import { crc32 } from 'node:zlib'
import { Slab, VfsError } from '../../vfs/index.ts'
import type { Batch, BlobRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import { MissingError } from '../missing-error.ts'
import {
  applyDelta,
  type Delta,
  type DeltaPiece,
  decodeDelta,
  encodeDelta,
  FIRST_DELTA_BLOB,
  isDeltaBlob,
} from '../segments/delta-row.ts'
import { type ChunkHashes, hashChunk } from '../segments/hash-chunks.ts'
import { planDelta } from '../segments/plan-delta.ts'
import { encodeInlineRow, FIRST_SEGMENT_BLOB, isSegmentBlob } from '../segments/segment-row.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { BlobCache } from './blob-cache.ts'

const encoder = new TextEncoder()
const NO_HASH = new Uint8Array(0)
const NO_BLOBS: readonly BlobRow[] = []
const NO_STAGED: readonly StagedBlob[] = []
/** Size of staged blobs from which an upload stores them ahead of its commit. */
const MAX_STAGED_BYTES = 8 * 1024 * 1024

/** Limit of blobs that are read ahead in one trip. */
const BLOBS_AHEAD = 16
/** The same for blobs in segments, whose rows are small: enough for the next segment to arrive in time. */
const SEGMENT_BLOBS_AHEAD = 128
/** Limit of blobs that were read ahead and are kept until they are asked for. */
const MAX_BLOBS_AHEAD = 2 * SEGMENT_BLOBS_AHEAD

/** Blobs a commit must include or require, so that all its references resolve. */
export interface StagedBlobs {
  readonly fresh: readonly StagedBlob[]
  /** Blobs that were already stored when they were put. */
  readonly reused: readonly BlobRow[]
}

/** A blob that waits for its commit. */
interface StagedBlob extends BlobRow {
  /** The delta that its bytes encode. Without it, they are the content. */
  readonly delta?: Delta
}

/** Stores content as blobs and reads it. New blobs are staged here until the commit that refers to them. */
export class BlobStore {
  readonly reader: EngineReader
  readonly nextId: () => number
  /** False for files in memory, such as a detached fork: their new blobs stay staged for good. */
  readonly canCommit: boolean
  readonly #fresh = new Map<number, StagedBlob>()
  readonly #byHash = new Map<string, number>()
  readonly #reused = new Map<number, BlobRow>()
  /** Blobs of a commit in progress. */
  readonly #inFlight = new Map<number, StagedBlob>()
  readonly #slab = Slab.forStored()
  readonly #cache = new BlobCache(this.#slab)
  /** Blobs that were read before they were asked for, unchecked, the oldest first. */
  readonly #ahead = new Map<number, Uint8Array>()
  #stagedBytes = 0
  readonly #makesDeltas: boolean
  /** Added to the ids of blobs whose rows a collection may pack into segments later. */
  readonly #firstId: number

  constructor(
    reader: EngineReader,
    nextId: () => number,
    { canCommit = true }: { readonly canCommit?: boolean } = {},
  ) {
    this.reader = reader
    this.nextId = nextId
    this.canCommit = canCommit
    // A collection would not find the bases of deltas that are never committed.
    this.#makesDeltas = reader.engine.storesDeltas === true && canCommit
    const { segments, listBlobSizes } = reader.engine
    this.#firstId = segments === undefined || listBlobSizes === undefined ? 0 : FIRST_SEGMENT_BLOB
  }

  /** Size of staged blobs from which an upload stores them ahead of its commit. */
  get maxStagedBytes(): number {
    return this.canCommit ? MAX_STAGED_BYTES : Number.POSITIVE_INFINITY
  }

  /** Size of the staged blobs in bytes. */
  get stagedBytes(): number {
    return this.#stagedBytes
  }

  /** Copies content that its caller may change, so that it can be put. */
  copy(content: string | Uint8Array): Uint8Array {
    return typeof content === 'string' ? encoder.encode(content) : this.#slab.copy(content)
  }

  /** Returns a reference to these bytes, already stored or staged for the next commit. The bytes must not change. */
  put(bytes: Uint8Array, { crc, hash: digest }: ChunkHashes = hashChunk(bytes)): BlobRef {
    return { blob: this.#findOrStage(bytes, digest), size: bytes.length, crc }
  }

  #findOrStage(bytes: Uint8Array, digest: Uint8Array): number {
    if (digest.length === 0) return this.#stage(bytes, NO_HASH)
    const staged = this.#byHash.get(toHashKey(digest))
    if (staged !== undefined) return staged
    const stored = this.reader.findBlob(digest)
    if (stored === undefined) return this.#stage(bytes, digest)
    // Kept until the commit: a garbage collection may be about to remove it.
    this.#reused.set(stored, { id: stored, hash: digest, bytes })
    return stored
  }

  /** Returns the row of a staged blob, or undefined. */
  findStagedRow(id: number): BlobRow | undefined {
    const staged = this.#fresh.get(id)
    return staged && toStoredRow(staged)
  }

  /** Drops a staged blob that no commit will refer to. Those with a hash stay, since other files may refer to them. */
  discard(id: number): void {
    const row = this.#fresh.get(id)
    if (row === undefined || row.hash.length > 0) return
    this.#fresh.delete(id)
    this.#stagedBytes -= row.bytes.length
  }

  /**
   * Stages bytes without deduplication, for content that is unlikely to recur, such as a file changed in the middle.
   */
  putUnshared(bytes: Uint8Array): BlobRef {
    const crc = crc32(bytes)
    const id = this.#firstId + this.nextId()
    this.#addStaged({ id, hash: NO_HASH, bytes, crc })
    return { blob: id, size: bytes.length, crc }
  }

  /**
   * Stages stored content with other bytes in one place, and the new size. Undefined if that takes little less than the
   * whole content: then stage that.
   */
  putDelta(old: BlobRef | undefined, size: number, piece: DeltaPiece): BlobRef | undefined {
    if (old === undefined || !this.#makesDeltas) return undefined
    const delta = planDelta(old, size, piece, (stored) => this.#findDelta(stored))
    if (delta === undefined) return undefined
    const id = FIRST_DELTA_BLOB + this.nextId()
    const { row, crc } = encodeDelta(id, delta)
    this.#addStaged({ id, hash: NO_HASH, bytes: row, delta })
    return { blob: id, size, crc }
  }

  /**
   * Returns stored content as a delta, which has no pieces if it is stored whole. Undefined for what is not stored: a later
   * change may take its place before the commit.
   */
  #findDelta(old: BlobRef): Delta | undefined {
    const { blob: id, size } = old
    const staged = this.#fresh.get(id)
    if (staged !== undefined) return staged.delta
    if (this.#inFlight.has(id) || this.#reused.has(id)) return undefined
    if (!isDeltaBlob(id)) return { base: old, size, pieces: [] }
    const row = this.reader.readBlobRow(id)
    return row && decodeDelta(id, row)
  }

  /** Creates another blob store on the same engine, with nothing staged. */
  createSeparate(): BlobStore {
    return new BlobStore(this.reader, this.nextId, { canCommit: this.canCommit })
  }

  /** Reads the bytes of a blob. EIO if it is missing, or its size or checksum does not match. */
  get({ blob, size, crc }: BlobRef): Uint8Array {
    const staged = this.#fresh.get(blob) ?? this.#inFlight.get(blob)
    if (staged?.delta !== undefined) return applyDelta(this.get(staged.delta.base), staged.delta)
    // Cached bytes were verified when they were read, and a blob never changes.
    const verified = staged?.bytes ?? this.#reused.get(blob)?.bytes ?? this.#cache.get(blob)
    if (verified !== undefined) return verified
    const bytes = this.#ahead.get(blob) ?? this.reader.readBlob(blob)
    if (bytes !== undefined && isIntact({ blob, size, crc }, bytes)) {
      this.#cache.put(blob, bytes)
      return bytes
    }
    this.#ahead.delete(blob)
    if (bytes === undefined) throw new MissingError('blob', blob, 'read')
    throw new VfsError('EIO', `blob ${blob}`, { op: 'read', detail: `blob ${blob} is damaged; run fsck` })
  }

  /**
   * Begins to read the next blobs of a file in one trip, if the engine can, unless the first is here already. A failure
   * shows when they are read. Called before each chunk, so the list is made only if it is needed.
   */
  readAhead({ blob }: BlobRef, listBlobs: (limit: number) => readonly BlobRef[]): void {
    if (!this.reader.readsAhead || this.#isLocal(blob)) return
    for (const { blob: id, size } of listBlobs(isSegmentBlob(blob) ? SEGMENT_BLOBS_AHEAD : BLOBS_AHEAD))
      if (size > 0 && !this.#isLocal(id)) this.#fetchAhead(id).catch(() => {})
  }

  /** Reports whether a blob is staged, cached or read ahead. */
  #isLocal(id: number): boolean {
    const isStaged = this.#fresh.has(id) || this.#reused.has(id) || this.#inFlight.has(id)
    return isStaged || this.#ahead.has(id) || this.#cache.get(id) !== undefined
  }

  async #fetchAhead(id: number): Promise<void> {
    const bytes = await this.reader.fetchBlob(id)
    if (bytes === undefined) return
    this.#ahead.set(id, bytes)
    for (const oldest of this.#ahead.keys()) {
      if (this.#ahead.size <= MAX_BLOBS_AHEAD) return
      this.#ahead.delete(oldest)
    }
  }

  /** Takes everything staged for a commit. Call `markStored` or `restage` afterwards. */
  takeStaged(): StagedBlobs {
    return this.takeStagedFor([...this.#fresh.keys(), ...this.#reused.keys()].map((blob) => ({ blob })))
  }

  /** Takes the staged blobs to which one commit refers. Those of other operations wait for their own commit. */
  takeStagedFor(references: readonly Pick<BlobRef, 'blob'>[]): StagedBlobs {
    const fresh = references.flatMap(({ blob }) => this.#takeFresh(blob) ?? NO_STAGED)
    const reused =
      this.#reused.size === 0 ? NO_BLOBS : references.flatMap(({ blob }) => this.#takeReused(blob))
    return { fresh, reused }
  }

  /** Ends a successful commit of taken blobs. Reused ones were stored before it. */
  markStored({ fresh }: StagedBlobs): void {
    for (const { id, bytes, delta } of fresh) {
      this.#inFlight.delete(id)
      if (delta === undefined) this.#cache.put(id, bytes)
    }
  }

  /** Stages blobs of a failed commit again: other operations, such as a running stream, may refer to them. */
  restage({ fresh, reused }: StagedBlobs): void {
    for (const row of fresh) {
      this.#inFlight.delete(row.id)
      this.#addStaged(row)
    }
    for (const row of reused) this.#reused.set(row.id, row)
  }

  #takeReused(id: number): readonly BlobRow[] {
    const row = this.#reused.get(id)
    this.#reused.delete(id)
    return row === undefined ? NO_BLOBS : [row]
  }

  #takeFresh(id: number): StagedBlob | undefined {
    const row = this.#fresh.get(id)
    if (row === undefined) return undefined
    this.#fresh.delete(id)
    if (row.hash.length > 0) this.#byHash.delete(toHashKey(row.hash))
    this.#stagedBytes -= row.bytes.length
    // On a local engine nobody reads during a commit.
    if (this.reader.isRemote) this.#inFlight.set(row.id, row)
    return row
  }

  #stage(bytes: Uint8Array, digest: Uint8Array): number {
    const id = this.#firstId + this.nextId()
    this.#addStaged({ id, hash: digest, bytes })
    return id
  }

  #addStaged(row: StagedBlob): void {
    this.#fresh.set(row.id, row)
    this.#stagedBytes += row.bytes.length
    if (row.hash.length > 0) this.#byHash.set(toHashKey(row.hash), row.id)
  }
}

/** Reports whether bytes are the content of a blob. That of a delta was verified when it was read. */
export function isIntact({ blob, size, crc }: BlobRef, bytes: Uint8Array): boolean {
  return bytes.length === size && (isDeltaBlob(blob) || crc32(bytes) === crc)
}

/**
 * Returns the parts of a batch for staged blobs. The engine refuses a commit if a reused blob was collected meanwhile:
 * then that one is stored again, under its id.
 */
export function toBatchBlobs(
  { fresh, reused }: StagedBlobs,
  wasRefused: boolean,
): Pick<Batch, 'blobs' | 'requires'> {
  const blobs = fresh.some(({ id }) => isSegmentBlob(id)) ? fresh.map(toStoredRow) : fresh
  if (wasRefused) return { blobs: [...blobs, ...reused.map(toStoredRow)] }
  if (reused.length === 0) return { blobs }
  return { blobs, requires: reused.map(({ id, hash }) => ({ hash, blob: id })) }
}

/** Returns the row that stores content under its id. */
function toStoredRow(staged: BlobRow): BlobRow {
  const { id, hash, bytes } = staged
  return isSegmentBlob(id) ? { id, hash, bytes: encodeInlineRow(bytes) } : staged
}

function toHashKey(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
