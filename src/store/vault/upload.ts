import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { seal, unseal } from '../sealed.ts'
import type { BlobRef } from '../tree/records.ts'
import { type Blobs, blobsOf } from './blobs.ts'

const PREFIX = 'upload/'

/** The record of an upload, as a garbage collection sees it. */
export interface UploadRecord {
  readonly pid: number
  readonly host: string
  /** Milliseconds since the epoch. */
  readonly time: number
}

/**
 * A stream on its way into the store. A large one is stored in parts before anything refers to it; while its record
 * is there, no garbage collection takes a blob away. Dispose of it once the commit that refers to the content is done.
 */
export class Upload implements AsyncDisposable {
  /** Apart from everything else: no other commit may store what nothing refers to yet. */
  readonly #blobs: Blobs
  readonly #shared: Blobs
  readonly #key = PREFIX + randomUUID()
  #isRecorded = false

  /** For content that a commit of these blobs will refer to. */
  constructor(shared: Blobs) {
    this.#blobs = shared.apart()
    this.#shared = shared
  }

  put(bytes: Uint8Array): BlobRef {
    return this.#blobs.put(bytes)
  }

  /** Stores what waits, if it has become much. */
  async relieve(): Promise<void> {
    if (this.#blobs.stagedBytes >= this.#blobs.waitingBytes) await this.flush()
  }

  /** From here on no garbage collection takes anything away, until this is disposed of. */
  async hold(): Promise<void> {
    if (this.#isRecorded) return
    const record: UploadRecord = { pid: process.pid, host: hostname(), time: Date.now() }
    const records = [{ key: this.#key, bytes: seal(record) }]
    await this.#blobs.reader.engine.commit({ records })
    this.#isRecorded = true
  }

  /** Stores everything that waits. */
  async flush(): Promise<void> {
    await this.hold()
    const { engine } = this.#blobs.reader
    const staged = this.#blobs.take()
    try {
      const isStored = await engine.commit(blobsOf(staged, false))
      if (!isStored) await engine.commit(blobsOf(staged, true))
      this.#blobs.stored(staged)
    } catch (error) {
      this.#blobs.restage(staged)
      throw error
    }
  }

  /** All has come: what still waits goes with the commit that is asked for right after this. */
  finish(): void {
    this.#shared.restage(this.#blobs.take())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isRecorded) return
    await this.#blobs.reader.engine.commit({ records: [{ key: this.#key, bytes: null }] })
  }
}

/** The uploads that are recorded, each with the name of its record. */
export function uploadsIn(
  records: readonly { readonly key: string; readonly bytes: Uint8Array | null }[],
): { key: string; upload: UploadRecord }[] {
  return records.flatMap(({ key, bytes }) =>
    bytes === null ? [] : [{ key, upload: unseal<UploadRecord>(bytes, key) }],
  )
}

export const uploadPrefix: string = PREFIX
