import { randomUUID } from 'node:crypto'
import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { Hold } from '../sessions/store-session.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { type BlobStore, toBatchBlobs } from './blob-store.ts'
import type { ExtraRecords } from './pending-operation.ts'

const UPLOAD_KEY_PREFIX = 'upload/'
/** How often it is tried to remove the record of an upload. */
const MAX_REMOVE_ATTEMPTS = 3

/** The record of an upload, as a garbage collection sees it. */
export interface UploadRecord {
  /** Whose it is; absent in those of earlier versions, which name their process. */
  readonly session?: string
  /** Milliseconds since the epoch, in those of earlier versions. */
  readonly time?: number
}

/**
 * A stream on its way into the store. A large one is stored in parts before anything refers to it; while its record
 * is there, no garbage collection takes a blob away. Dispose of it once the commit that refers to the content is done.
 */
export class Upload implements AsyncDisposable {
  /** Apart from everything else: no other commit may store what nothing refers to yet. */
  readonly #blobs: BlobStore
  readonly #shared: BlobStore
  readonly #key = UPLOAD_KEY_PREFIX + randomUUID()
  #record: Uint8Array | undefined
  #isRecorded = false
  #hold: Hold | undefined

  /** For content that a commit of these blobs will refer to. */
  constructor(shared: BlobStore) {
    this.#blobs = shared.createSeparate()
    this.#shared = shared
  }

  put(bytes: Uint8Array): BlobRef {
    return this.#blobs.put(bytes)
  }

  /** Stores what waits, if it has become much. */
  async flushIfLarge(): Promise<void> {
    if (this.#blobs.stagedBytes >= this.#blobs.maxStagedBytes) await this.flush()
  }

  /** From here on no garbage collection takes anything away, until this is disposed of. */
  async hold(): Promise<void> {
    if (this.#isRecorded) return
    const { engine, session } = this.#blobs.reader
    const record: UploadRecord = { session: session.id }
    const bytes = encodeChecksummedJson(record)
    // Shown before it is recorded: a collection that finds the record finds the session, too.
    this.#hold = session.hold({ isUpload: true })
    await session.publish()
    // It may come there also if this fails, and is then removed again.
    this.#record = bytes
    await engine.commit({ records: [{ key: this.#key, bytes }] })
    this.#isRecorded = true
  }

  /**
   * For the commit that refers to what was uploaded: it is refused if a collection had to do without this session.
   * EUNAVAILABLE then.
   */
  readonly extraRecords: ExtraRecords = () => {
    const { reader } = this.#blobs
    if (this.#record === undefined) return {}
    if (reader.readRecord(this.#key) === undefined) throw createUploadLostError()
    return { expect: [{ key: this.#key, bytes: this.#record }] }
  }

  /** Stores everything that waits. */
  async flush(): Promise<void> {
    await this.hold()
    const { engine } = this.#blobs.reader
    const staged = this.#blobs.takeStaged()
    try {
      const isStored = await engine.commit(toBatchBlobs(staged, false))
      if (!isStored) await engine.commit(toBatchBlobs(staged, true))
      this.#blobs.markStored(staged)
    } catch (error) {
      this.#blobs.restage(staged)
      throw error
    }
  }

  /** All has come: what still waits goes with the commit that is asked for right after this. */
  handOver(): void {
    this.#shared.restage(this.#blobs.takeStaged())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hold?.release()
    if (this.#record !== undefined) await this.#removeRecord()
  }

  /** What was uploaded is committed by now, or has failed for a reason of its own: neither is changed by this. */
  async #removeRecord(): Promise<void> {
    const { engine } = this.#blobs.reader
    for (let tries = 0; tries < MAX_REMOVE_ATTEMPTS; tries++) {
      try {
        await engine.commit({ records: [{ key: this.#key, bytes: null }] })
        return
      } catch {
        // If it never succeeds, a collection removes the record once the session is closed.
      }
    }
  }
}

function createUploadLostError(): VfsError {
  const detail =
    'this process did not answer a garbage collection in time, which took what was uploaded; write it again'
  return new VfsError('EUNAVAILABLE', '/', { op: 'write', detail })
}

/** The uploads that are recorded, each with the name of its record. */
export function decodeUploads(
  records: readonly { readonly key: string; readonly bytes: Uint8Array | null }[],
): { key: string; upload: UploadRecord }[] {
  return records.flatMap(({ key, bytes }) =>
    bytes === null ? [] : [{ key, upload: decodeChecksummedJson<UploadRecord>(bytes, key) }],
  )
}

export const uploadPrefix: string = UPLOAD_KEY_PREFIX
