import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import type { BlobRow, Engine } from '../engine.ts'
import type { BlobRef } from '../tree/records.ts'
import { settled } from './settled.ts'

/** Content of at least this size is stored once for the whole home; smaller ones are not worth the look-up. */
const SHARED_FROM_BYTES = 4096
const NO_HASH = new Uint8Array(0)

/** Turns content into blobs and back. New blobs wait here until the commit that refers to them. */
export class Blobs {
  readonly #engine: Engine
  readonly #nextId: () => number
  readonly #staged = new Map<number, BlobRow>()
  readonly #stagedByHash = new Map<string, number>()

  constructor(engine: Engine, nextId: () => number) {
    this.#engine = engine
    this.#nextId = nextId
  }

  /** Refers to these bytes, stored before or to be stored with the next commit. The bytes must not change any more. */
  put(bytes: Uint8Array): BlobRef {
    const facts = { size: bytes.length, crc: crc32(bytes) }
    const digest = bytes.length < SHARED_FROM_BYTES ? NO_HASH : hash('sha256', bytes, 'buffer')
    return { blob: this.#find(digest) ?? this.#stage(bytes, digest), ...facts }
  }

  /** The bytes of a blob; EIO if they are not what was stored. */
  get({ blob, size, crc }: BlobRef): Uint8Array {
    const bytes = this.#staged.get(blob)?.bytes ?? settled(this.#engine.readBlob(blob))
    if (bytes !== undefined && bytes.length === size && crc32(bytes) === crc) return bytes
    const what = bytes === undefined ? 'missing' : 'damaged'
    throw new VfsError('EIO', `blob ${blob}`, { op: 'read', detail: `blob ${blob} is ${what}; run fsck` })
  }

  /** What is waiting for a commit. */
  take(): BlobRow[] {
    const staged = [...this.#staged.values()]
    this.#staged.clear()
    this.#stagedByHash.clear()
    return staged
  }

  /** Puts back what a commit did not store: others may refer to it, such as a stream that is still coming in. */
  restage(rows: readonly BlobRow[]): void {
    for (const row of rows) this.#keep(row)
  }

  #find(digest: Uint8Array): number | undefined {
    if (digest.length === 0) return undefined
    return this.#stagedByHash.get(keyOf(digest)) ?? settled(this.#engine.findBlob(digest))
  }

  #stage(bytes: Uint8Array, digest: Uint8Array): number {
    const id = this.#nextId()
    this.#keep({ id, hash: digest, bytes })
    return id
  }

  #keep(row: BlobRow): void {
    this.#staged.set(row.id, row)
    if (row.hash.length > 0) this.#stagedByHash.set(keyOf(row.hash), row.id)
  }
}

function keyOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
