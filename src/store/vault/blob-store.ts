import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import type { Batch, BlobRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import { MissingError } from '../missing-error.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { BlobCache } from './blob-cache.ts'

/** Content of at least this size is stored once for the whole home; smaller ones are not worth the look-up. */
export const MIN_DEDUPLICATED_BYTES = 4096
const NO_HASH = new Uint8Array(0)
/** How much of a stream may wait in memory before it goes to the store ahead of its commit. */
const MAX_STAGED_BYTES = 8 * 1024 * 1024

/** What a commit must bring so that everything it refers to is there. */
export interface StagedBlobs {
  readonly fresh: readonly BlobRow[]
  /** Found in the store when they were put. */
  readonly reused: readonly BlobRow[]
}

/** Turns content into blobs and back. New blobs wait here until the commit that refers to them. */
export class BlobStore {
  readonly reader: EngineReader
  readonly nextId: () => number
  readonly maxStagedBytes: number
  readonly #fresh = new Map<number, BlobRow>()
  readonly #byHash = new Map<string, number>()
  readonly #reused = new Map<number, BlobRow>()
  /** On their way into the store. */
  readonly #inFlight = new Map<number, BlobRow>()
  readonly #cache = new BlobCache()
  #stagedBytes = 0

  /** With no limit on what may wait, nothing is ever stored ahead of a commit. */
  constructor(reader: EngineReader, nextId: () => number, waitingBytes: number = MAX_STAGED_BYTES) {
    this.reader = reader
    this.nextId = nextId
    this.maxStagedBytes = waitingBytes
  }

  /** How many bytes wait for a commit. */
  get stagedBytes(): number {
    return this.#stagedBytes
  }

  /** Refers to these bytes, stored before or to be stored with the next commit. The bytes must not change any more. */
  put(bytes: Uint8Array): BlobRef {
    const facts = { size: bytes.length, crc: crc32(bytes) }
    if (bytes.length < MIN_DEDUPLICATED_BYTES) return { blob: this.#stage(bytes, NO_HASH), ...facts }
    const digest = hash('sha256', bytes, 'buffer')
    const staged = this.#byHash.get(toHashKey(digest))
    if (staged !== undefined) return { blob: staged, ...facts }
    const stored = this.reader.findBlob(digest)
    if (stored === undefined) return { blob: this.#stage(bytes, digest), ...facts }
    // Kept until the commit: a garbage collection may be about to take it.
    this.#reused.set(stored, { id: stored, hash: digest, bytes })
    return { blob: stored, ...facts }
  }

  /** What waits for the next commit under an id, if anything does. */
  findStaged(id: number): BlobRow | undefined {
    return this.#fresh.get(id)
  }

  /** Nothing that will be committed refers to it any more. Only of what was put alone: others may share the rest. */
  discard(id: number): void {
    const row = this.#fresh.get(id)
    if (row === undefined || row.hash.length > 0) return
    this.#fresh.delete(id)
    this.#stagedBytes -= row.bytes.length
  }

  /** The same for bytes that hardly anybody will have again, such as a file changed in the middle: not shared. */
  putUnshared(bytes: Uint8Array): BlobRef {
    const crc = crc32(bytes)
    const id = this.nextId()
    this.#addStaged({ id, hash: NO_HASH, bytes, crc })
    return { blob: id, size: bytes.length, crc }
  }

  /** Others of the same store, with nothing waiting in them. */
  createSeparate(): BlobStore {
    return new BlobStore(this.reader, this.nextId, this.maxStagedBytes)
  }

  /** The bytes of a blob; EIO if they are not what was stored. */
  get({ blob, size, crc }: BlobRef): Uint8Array {
    const waiting = this.#fresh.get(blob) ?? this.#reused.get(blob) ?? this.#inFlight.get(blob)
    // What is in the cache was verified when it came there, and a blob never changes.
    const known = waiting?.bytes ?? this.#cache.get(blob)
    if (known !== undefined) return known
    const bytes = this.reader.readBlob(blob)
    if (bytes !== undefined && bytes.length === size && crc32(bytes) === crc) {
      this.#cache.put(blob, bytes)
      return bytes
    }
    if (bytes === undefined) throw new MissingError('blob', blob, 'read')
    throw new VfsError('EIO', `blob ${blob}`, { op: 'read', detail: `blob ${blob} is damaged; run fsck` })
  }

  /** What is waiting for a commit. Say afterwards what became of it: `stored` or `restage`. */
  takeStaged(): StagedBlobs {
    return this.takeStagedById([...this.#fresh.keys(), ...this.#reused.keys()])
  }

  /** The same for these alone: blobs of a commit that failed are not stored with the next one. */
  takeStagedById(ids: Iterable<number>): StagedBlobs {
    const [fresh, reused]: [BlobRow[], BlobRow[]] = [[], []]
    for (const id of ids) {
      const row = this.#fresh.get(id)
      const stored = this.#reused.get(id)
      if (row !== undefined) fresh.push(this.#takeFresh(row))
      if (stored !== undefined) reused.push(stored)
      this.#reused.delete(id)
    }
    return { fresh, reused }
  }

  markStored({ fresh }: StagedBlobs): void {
    for (const { id, bytes } of fresh) {
      this.#inFlight.delete(id)
      this.#cache.put(id, bytes)
    }
  }

  /** Puts back what a commit did not store: others may refer to it, such as a stream that is still coming in. */
  restage({ fresh, reused }: StagedBlobs): void {
    for (const row of fresh) {
      this.#inFlight.delete(row.id)
      this.#addStaged(row)
    }
    for (const row of reused) this.#reused.set(row.id, row)
  }

  #takeFresh(row: BlobRow): BlobRow {
    this.#fresh.delete(row.id)
    if (row.hash.length > 0) this.#byHash.delete(toHashKey(row.hash))
    this.#stagedBytes -= row.bytes.length
    this.#inFlight.set(row.id, row)
    return row
  }

  #stage(bytes: Uint8Array, digest: Uint8Array): number {
    const id = this.nextId()
    this.#addStaged({ id, hash: digest, bytes })
    return id
  }

  #addStaged(row: BlobRow): void {
    this.#fresh.set(row.id, row)
    this.#stagedBytes += row.bytes.length
    if (row.hash.length > 0) this.#byHash.set(toHashKey(row.hash), row.id)
  }
}

/** The parts of a batch that bring staged blobs; after a refusal also those that were there when they were put. */
export function toBatchBlobs(
  { fresh, reused }: StagedBlobs,
  wasRefused: boolean,
): Pick<Batch, 'blobs' | 'requires'> {
  if (wasRefused) return { blobs: [...fresh, ...reused] }
  if (reused.length === 0) return { blobs: fresh }
  return { blobs: fresh, requires: reused.map(({ id, hash }) => ({ hash, blob: id })) }
}

function toHashKey(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
