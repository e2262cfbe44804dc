import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { isSegmentName, SEGMENT_BYTES, type SegmentInfo, type SegmentStore } from '../../store/index.ts'
import { ArrivingBlocks } from './arriving-blocks.ts'
import { listKeyPages } from './list-key-pages.ts'
import { deleteObject, getObject, putObject } from './objects.ts'
import type { S3Call } from './s3-call.ts'
import { S3Connection } from './s3-connection.ts'

/** Reads fetch whole blocks of this size: the next chunk of a file is most likely in the same one. */
const BLOCK_BYTES = 1024 * 1024
/** Limit of blocks in memory. */
const MAX_BLOCKS = 48

/** Options of `S3Segments`. */
export interface S3SegmentsOptions {
  readonly bucket: string
  /** Prefix of the keys, without a slash at its end; the whole bucket when empty. */
  readonly prefix?: string
  /** A client, which the caller closes, or the configuration for one. */
  readonly client?: S3Client | S3ClientConfig
  /** As `SegmentStore.readOnlyReason`. */
  readonly readOnlyReason?: string | undefined
  /** Once it aborts, requests that the server leaves unanswered end soon. */
  readonly interruption?: AbortSignal | undefined
}

/** Segments as objects of an S3 bucket. Each has a name of its own, so S3 decides nothing between two writers. */
export class S3Segments implements SegmentStore {
  readonly concurrency = 4
  readonly readOnlyReason: string | undefined
  readonly #connection: S3Connection
  readonly #prefix: string
  /** Blocks by segment and index, fetched or on their way, the least recently used first. */
  readonly #blocks = new Map<string, Promise<Uint8Array | undefined>>()

  constructor({ bucket, prefix = '', client, readOnlyReason, interruption }: S3SegmentsOptions) {
    this.readOnlyReason = readOnlyReason
    this.#connection = new S3Connection(bucket, client, interruption)
    this.#prefix = prefix === '' ? '' : `${prefix}/`
  }

  locate(name: string): string {
    return `s3://${this.#connection.bucket}/${this.#prefix}${name}`
  }

  /** Stores a segment. A repeated request stores the same bytes under the same key, so a lost response does no harm. */
  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const [first = new Uint8Array(0)] = parts
    const bytes = parts.length === 1 ? first : Buffer.concat(parts)
    await putObject(this.#connection, this.#prefix + name, bytes, {}, this.#createCall('write', name))
  }

  async read(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const first = Math.floor(offset / BLOCK_BYTES)
    const last = Math.floor((offset + length - 1) / BLOCK_BYTES)
    // A segment that is read in order is fetched to its end.
    const isInOrder = first === 0 || this.#blocks.has(`${name}/${first - 1}`)
    const end = isInOrder ? Math.max(last + 1, SEGMENT_BYTES / BLOCK_BYTES) : last + 1
    this.#fetchMissing(name, first, end)
    const wanted = Array.from({ length: last - first + 1 }, (_, index) => this.#useBlock(name, first + index))
    const blocks = await Promise.all(wanted)
    const [head] = blocks
    if (head === undefined) return undefined
    const start = offset - first * BLOCK_BYTES
    const whole =
      blocks.length === 1 ? head : Buffer.concat(blocks.map((block) => block ?? new Uint8Array(0)))
    return whole.subarray(start, start + length)
  }

  async list(): Promise<SegmentInfo[]> {
    const found: SegmentInfo[] = []
    for await (const page of listKeyPages(this.#connection, this.#prefix, {}, this.#createCall('list', ''))) {
      for (const { key, stat } of page) {
        const name = key.slice(this.#prefix.length)
        if (isSegmentName(name)) found.push({ name, size: Number(stat.size) })
      }
    }
    return found
  }

  async delete(name: string): Promise<void> {
    await deleteObject(this.#connection, this.#prefix + name, this.#createCall('remove', name))
  }

  close(): Promise<void> {
    this.#blocks.clear()
    return this.#connection.close()
  }

  /** Begins to fetch the blocks from one to another that are not here, each run of them by one request. */
  #fetchMissing(name: string, first: number, end: number): void {
    for (let index = first; index < end; index++) {
      let stop = index
      while (stop < end && !this.#blocks.has(`${name}/${stop}`)) stop++
      if (stop === index) continue
      const arriving = new ArrivingBlocks(stop - index, BLOCK_BYTES)
      for (const [number, block] of arriving.blocks.entries()) this.#keep(`${name}/${index + number}`, block)
      void this.#fetch(name, index, arriving)
      index = stop - 1
    }
  }

  /** Returns a block that was fetched or is on its way, and notes its use. */
  #useBlock(name: string, index: number): Promise<Uint8Array | undefined> | undefined {
    const key = `${name}/${index}`
    const block = this.#blocks.get(key)
    if (block !== undefined) this.#keep(key, block)
    return block
  }

  #keep(key: string, block: Promise<Uint8Array | undefined>): void {
    this.#blocks.delete(key)
    this.#blocks.set(key, block)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > MAX_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest)
  }

  /** Fetches blocks; each is undefined if there is no such segment. Forgets those, and failed ones: a later read tries again. */
  async #fetch(name: string, first: number, arriving: ArrivingBlocks): Promise<void> {
    const count = arriving.blocks.length
    try {
      const range = [first * BLOCK_BYTES, count * BLOCK_BYTES] as const
      const call = this.#createCall('read', name)
      const found = await getObject(this.#connection, this.#prefix + name, range, call)
      if (found !== undefined) return await arriving.fill(found.bytes)
      arriving.giveUp()
    } catch (error) {
      arriving.fail(error)
    }
    for (let index = first; index < first + count; index++) this.#blocks.delete(`${name}/${index}`)
  }

  #createCall(op: string, name: string): S3Call {
    return { op, path: this.locate(name), signal: undefined }
  }
}
