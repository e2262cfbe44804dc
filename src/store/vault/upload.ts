import { randomUUID } from 'node:crypto'
import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { Hold } from '../sessions/store-session.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { type BlobStore, toBatchBlobs } from './blob-store.ts'
import type { ExtraRecords } from './pending-operation.ts'

const UPLOAD_KEY_PREFIX = 'upload/'
/** Number of attempts to remove the record of an upload. */
const MAX_REMOVE_ATTEMPTS = 3

/** The record of an upload, for garbage collections. */
export interface UploadRecord {
  /** Owning session; absent in those of earlier versions, which name their process. */
  readonly session?: string
  /** Milliseconds since the epoch, in those of earlier versions. */
  readonly time?: number
}

/**
 * A stream that is being stored. A large one is stored in parts before anything refers to it; while its record
 * exists, no garbage collection removes a blob. Dispose of it after the commit that refers to the content.
 */
export class Upload implements AsyncDisposable {
  /** Separate blob store: no other commit may store unreferenced content. */
  readonly #blobs: BlobStore
  readonly #shared: BlobStore
  readonly #key = UPLOAD_KEY_PREFIX + randomUUID()
  #record: Uint8Array | undefined
  #isRecorded = false
  #hold: Hold | undefined

  /** @param shared blob store of the commit that will refer to the content. */
  constructor(shared: BlobStore) {
    this.#blobs = shared.createSeparate()
    this.#shared = shared
  }

  put(bytes: Uint8Array): BlobRef {
    return this.#blobs.put(bytes)
  }

  /** Stores staged blobs once they are large. */
  async flushIfLarge(): Promise<void> {
    if (this.#blobs.stagedBytes >= this.#blobs.maxStagedBytes) await this.flush()
  }

  /** Keeps garbage collections from removing anything until this is disposed of. */
  async hold(): Promise<void> {
    if (this.#isRecorded) return
    const { engine, session } = this.#blobs.reader
    const record: UploadRecord = { session: session.id }
    const bytes = encodeChecksummedJson(record)
    // Published before it is recorded: a collection that finds the record finds the session, too.
    this.#hold = session.hold({ isUpload: true })
    await session.publish()
    // A failed commit may still have stored it; then dispose removes it.
    this.#record = bytes
    await engine.commit({ records: [{ key: this.#key, bytes }] })
    this.#isRecorded = true
  }

  /**
   * Requirement of the commit that refers to the upload. Throws EUNAVAILABLE if a collection did not wait for this
   * session.
   */
  readonly extraRecords: ExtraRecords = () => {
    const { reader } = this.#blobs
    if (this.#record === undefined) return {}
    if (reader.readRecord(this.#key) === undefined) throw createUploadLostError()
    return { expect: [{ key: this.#key, bytes: this.#record }] }
  }

  /** Stores all staged blobs. */
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

  /** Called at the end of the stream: the next commit includes the remaining staged blobs. */
  handOver(): void {
    this.#shared.restage(this.#blobs.takeStaged())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hold?.release()
    if (this.#record !== undefined) await this.#removeRecord()
  }

  /** Removes the record; the outcome of the upload no longer depends on it. */
  async #removeRecord(): Promise<void> {
    const { engine } = this.#blobs.reader
    for (let tries = 0; tries < MAX_REMOVE_ATTEMPTS; tries++) {
      try {
        await engine.commit({ records: [{ key: this.#key, bytes: null }] })
        return
      } catch {
        // If all attempts fail, a collection removes the record once the session is closed.
      }
    }
  }
}

function createUploadLostError(): VfsError {
  const detail =
    'a garbage collection removed the upload, since this process did not answer it in time; write it again'
  return new VfsError('EUNAVAILABLE', '/', { op: 'write', detail })
}

/** Decodes the records of uploads, each with its key. */
export function decodeUploads(
  records: readonly { readonly key: string; readonly bytes: Uint8Array | null }[],
): { key: string; upload: UploadRecord }[] {
  return records.flatMap(({ key, bytes }) =>
    bytes === null ? [] : [{ key, upload: decodeChecksummedJson<UploadRecord>(bytes, key) }],
  )
}

export const uploadPrefix: string = UPLOAD_KEY_PREFIX
