import { randomUUID } from 'node:crypto'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { BlobRow, RecordRow } from '../engine.ts'
import { createUploadCollectedError } from '../missing-error.ts'
import { type ChunkStore, SegmentStream } from '../segments/segment-stream.ts'
import { SegmentUpload } from '../segments/segment-upload.ts'
import type { Hold } from '../sessions/store-session.ts'
import type { BlobRef } from '../tree/tree-values.ts'
import { type BlobStore, toBatchBlobs } from './blob-store.ts'
import type { ExtraRecords } from './pending-operation.ts'

const UPLOAD_KEY_PREFIX = 'upload/'
/** Number of rows of chunks in segments that wait in memory, for a gibibyte. Until then a failure frees everything. */
const MAX_STAGED_ROWS = 32_768
/** Number of attempts to remove the record of an upload. */
const MAX_REMOVE_ATTEMPTS = 3

/** The record of an upload, for garbage collections. */
export interface UploadRecord {
  /** Owning session; absent in those of earlier versions. */
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
  readonly #segments: SegmentUpload | undefined
  #recording: Promise<void> | undefined
  #hold: Hold | undefined

  /** @param shared blob store of the commit that will refer to the content. */
  constructor(shared: BlobStore) {
    this.#blobs = shared.createSeparate()
    this.#shared = shared
    const { reader, canCommit, nextId } = shared
    const { segments } = reader.engine
    const isWritable = segments !== undefined && segments.readOnlyReason === undefined
    if (isWritable && canCommit) this.#segments = new SegmentUpload(reader, segments, nextId)
  }

  /** True if large content goes to segments. */
  get hasSegments(): boolean {
    return this.#segments !== undefined
  }

  /** Stages bytes, or finds stored ones. */
  put(bytes: Uint8Array): BlobRef {
    return this.#blobs.put(bytes)
  }

  /** Begins to store a large stream in segments. Requires `hasSegments`. */
  async openSegmentStream(): Promise<SegmentStream> {
    return new SegmentStream(await this.#openSegments())
  }

  /** Stores chunks in a segment. Requires `hasSegments`. */
  async storeInSegment(chunks: readonly Uint8Array[]): Promise<readonly BlobRef[]> {
    return (await this.#openSegments()).store(chunks)
  }

  /** Holds the upload, and returns where its chunks go. */
  async #openSegments(): Promise<ChunkStore> {
    const segments = this.#segments
    if (segments === undefined) throw new Error('the home has no segments')
    // Before the first segment exists: a collection that finds it finds the upload, too.
    await this.hold()
    return {
      concurrency: segments.concurrency,
      store: async (chunks) => {
        const refs = await segments.store(chunks)
        if (segments.inlineBytes >= this.#blobs.maxStagedBytes)
          await this.commitRows(segments.takeInlineRows())
        if (segments.rowCount >= MAX_STAGED_ROWS) await this.commitRows(segments.takeRows())
        return refs
      },
    }
  }

  /** Stores staged blobs once they are large. */
  async flushIfLarge(): Promise<void> {
    if (this.#blobs.stagedBytes >= this.#blobs.maxStagedBytes) await this.flush()
  }

  /** Keeps garbage collections from removing anything until this is disposed of. */
  hold(): Promise<void> {
    this.#recording ??= this.#recordHold().catch((error) => {
      this.#recording = undefined
      throw error
    })
    return this.#recording
  }

  async #recordHold(): Promise<void> {
    const { engine, session } = this.#blobs.reader
    const record: UploadRecord = { session: session.id }
    const bytes = encodeChecksummedJson(record)
    // Published before it is recorded: a collection that finds the record finds the session, too.
    this.#hold ??= session.hold({ isUpload: true })
    await session.publish()
    // A failed commit may still have stored it; then dispose removes it.
    this.#record = bytes
    await engine.commit({ records: [{ key: this.#key, bytes }] })
  }

  /**
   * Requirement of the commit that refers to the upload. Throws EUNAVAILABLE if a collection did not wait for this
   * session.
   */
  readonly extraRecords: ExtraRecords = () => {
    const { reader } = this.#blobs
    if (this.#record === undefined) return {}
    if (reader.readRecord(this.#key) === undefined) throw createUploadCollectedError()
    return { expect: [{ key: this.#key, bytes: this.#record }] }
  }

  /** Stores all staged blobs and the rows of segments, ahead of the commit that refers to them. */
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
    if (this.#segments !== undefined) await this.commitRows(this.#segments.takeRows())
  }

  /**
   * Called at the end of the stream: the next commit includes the remaining staged blobs. Rows of segments are stored
   * before, as they depend on the upload: other commits must not find them after its end.
   */
  async handOver(): Promise<void> {
    this.#shared.restage(this.#blobs.takeStaged())
    if (this.#segments !== undefined) await this.commitRows(this.#segments.takeRows())
  }

  /**
   * Commits rows that name segments. Throws EUNAVAILABLE if a collection did not wait for this session, and may have
   * deleted the segments: then nothing must find the rows. Throws it too if a record in `also` has other bytes.
   */
  async commitRows(blobs: readonly BlobRow[], also: readonly RecordRow[] = []): Promise<void> {
    if (blobs.length === 0 || this.#record === undefined) return
    const expect = [{ key: this.#key, bytes: this.#record }, ...also]
    if (!(await this.#blobs.reader.engine.commit({ expect, blobs }))) throw createUploadCollectedError()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#segments?.discard()
    this.#hold?.release()
    if (this.#record !== undefined) await this.#removeRecord()
  }

  /** Removes the record, on which the upload no longer depends. */
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

/** Decodes the records of uploads, each with its key. */
export function decodeUploads(
  records: readonly { readonly key: string; readonly bytes: Uint8Array | null }[],
): { key: string; upload: UploadRecord }[] {
  return records.flatMap(({ key, bytes }) =>
    bytes === null ? [] : [{ key, upload: decodeChecksummedJson<UploadRecord>(bytes, key) }],
  )
}

export const uploadPrefix: string = UPLOAD_KEY_PREFIX
