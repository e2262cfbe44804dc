import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { MaybePromise } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import { toCommitError } from '../engines/engine-errors.ts'
import { chain } from '../maybe-promise.ts'
import { PageFault } from '../tree/node-cache.ts'

const IDS_KEY = 'ids'
/** Number of ids that are reserved at a time. */
const BLOCK_SIZE = 65_536
const MAX_TRIES = 1000

/** Allocates ids for pages, blobs and vaults, unique across processes: reserved from the home in blocks. */
export class IdAllocator {
  readonly #reader: EngineReader
  #next = 0
  #end = 0
  #reserving: Promise<void> | undefined

  constructor(reader: EngineReader) {
    this.#reader = reader
  }

  /** Returns the next id. Fails as `ensure`. */
  readonly next = (): number => {
    this.ensure(1)
    return this.#next++
  }

  /** Reserves ids so that `count` are available without a read. A remote engine throws a fault until they are. */
  ensure(count: number): void {
    for (let tries = 0; this.#end - this.#next < count; tries++) {
      if (tries === MAX_TRIES) {
        throw new VfsError('EUNAVAILABLE', '/', { detail: 'other processes keep taking ids; try again' })
      }
      this.#reserveBlock(Math.max(BLOCK_SIZE, count))
    }
  }

  #reserveBlock(count: number): void {
    if (this.#reserving !== undefined) throw new PageFault(this.#reserving)
    const reserved = this.#readAndTakeBlock(count)
    if (!(reserved instanceof Promise)) return
    this.#reserving = reserved.catch(throwCommitError).finally(() => {
      this.#reserving = undefined
    })
    throw new PageFault(this.#reserving)
  }

  /** Reads the record again at each attempt: cached results of a unit of work may be outdated. */
  #readAndTakeBlock(count: number): MaybePromise<void> {
    try {
      return chain(this.#reader.engine.readRecord(IDS_KEY), (found) => this.#takeBlock(found, count))
    } catch (error) {
      return throwCommitError(error)
    }
  }

  /** Reserves a block unless another process is first. A lost response wastes a block, which is harmless. */
  #takeBlock(found: Uint8Array | undefined, count: number): MaybePromise<void> {
    const start = found === undefined ? 1 : decodeChecksummedJson<number>(found, 'the record of ids')
    const records = [{ key: IDS_KEY, bytes: encodeChecksummedJson(start + count) }]
    const expect = [{ key: IDS_KEY, bytes: found ?? null }]
    // A collection allocates ids too, for the pages it writes. Ids of a shared home must not return after a crash of
    // its database: other machines have cached what they stood for.
    const durable = this.#reader.readsAhead
    const commit = this.#reader.engine.commit({ expect, records, isDerived: true, frees: true, durable })
    return chain(commit, (isOurs) => {
      if (!isOurs) return
      // Ids are consecutive within a block, so the rest of the old block is dropped.
      this.#next = start
      this.#end = start + count
    })
  }
}

function throwCommitError(error: unknown): never {
  throw toCommitError(error)
}
