import { contentChunks } from '../../vfs/index.ts'
import type { StoredContent } from '../files/operation.ts'
import { MIN_SEGMENTED_BYTES } from '../segments/segment-store.ts'
import type { SegmentStream } from '../segments/segment-stream.ts'
import { type BlobRef, CHUNK_BYTES } from '../tree/tree-values.ts'
import type { BlobStore } from './blob-store.ts'
import { storeBytes } from './file-content.ts'
import type { Upload } from './upload.ts'

/** Content that arrives in parts: as rows of the engine, or in segments once it is large. */
class StreamedContent {
  readonly #blobs: BlobStore
  readonly #upload: Upload
  readonly #chunks: BlobRef[] = []
  /** Parts that wait until the stream is known to be large. */
  #start: Uint8Array[] = []
  /** Bytes behind the last whole chunk. */
  #rest: Uint8Array = new Uint8Array(0)
  #large: SegmentStream | undefined
  #size = 0

  constructor(blobs: BlobStore, upload: Upload) {
    this.#blobs = blobs
    this.#upload = upload
  }

  /** Stores a part. Its bytes may change once this returns. */
  async append(part: Uint8Array): Promise<void> {
    this.#size += part.length
    if (this.#large !== undefined) return this.#large.append(part)
    if (!this.#upload.hasSegments) return this.#storeChunks(part)
    if (this.#size <= MIN_SEGMENTED_BYTES) {
      this.#start.push(new Uint8Array(part))
      return
    }
    this.#large = await this.#upload.openSegmentStream()
    for (const waiting of this.#start) await this.#large.append(waiting)
    this.#start = []
    await this.#large.append(part)
  }

  /** Stores the rest and returns the reference to all of it. */
  async finish(): Promise<StoredContent> {
    if (this.#large !== undefined) {
      const chunks = await this.#large.finish()
      await this.#upload.handOver()
      return { size: this.#size, chunks }
    }
    for (const part of this.#start) await this.#storeChunks(part)
    const stored = await this.#storeRest()
    await this.#upload.handOver()
    return stored
  }

  /** Stores the whole chunks of a part as rows, and keeps the rest. */
  async #storeChunks(part: Uint8Array): Promise<void> {
    const joined = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    const whole = joined.length - (joined.length % CHUNK_BYTES)
    for (let start = 0; start < whole; start += CHUNK_BYTES) {
      // Copied: the source may reuse its buffer.
      const chunk = new Uint8Array(joined.subarray(start, start + CHUNK_BYTES))
      this.#chunks.push(await this.#put(chunk))
    }
    this.#rest = new Uint8Array(joined.subarray(whole))
    await this.#upload.flushIfLarge()
  }

  async #storeRest(): Promise<StoredContent> {
    const rest = this.#rest
    if (this.#chunks.length === 0) return this.#blobs.reader.run(() => storeBytes(rest, this.#upload))
    if (rest.length > 0) this.#chunks.push(await this.#put(rest))
    return { size: this.#size, chunks: this.#chunks }
  }

  async #put(chunk: Uint8Array): Promise<BlobRef> {
    return this.#blobs.reader.run(() => this.#upload.put(chunk))
  }
}

/** Stores a stream, a large one in segments. The upload protects its content until a commit refers to it. */
export async function storeStream(
  content: AsyncIterable<Uint8Array | string>,
  blobs: BlobStore,
  upload: Upload,
): Promise<StoredContent> {
  const stored = new StreamedContent(blobs, upload)
  for await (const part of contentChunks(content)) await stored.append(part)
  return stored.finish()
}
