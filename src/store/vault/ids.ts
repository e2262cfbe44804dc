import { VfsError } from '../../vfs/index.ts'
import type { EngineReader } from '../reader.ts'
import { seal, unseal } from '../sealed.ts'
import { PageFault } from '../tree/node-cache.ts'

const KEY = 'ids'
const BLOCK = 65_536
const MAX_TRIES = 1000

/** Numbers for pages, blobs and vaults that no other process gets: taken from the home in blocks. */
export class Ids {
  readonly #reader: EngineReader
  #next = 0
  #end = 0
  #reserving: Promise<void> | undefined

  constructor(reader: EngineReader) {
    this.#reader = reader
  }

  readonly next = (): number => {
    this.ensure(1)
    return this.#next++
  }

  /** Makes sure that so many can be had without asking anybody. */
  ensure(count: number): void {
    for (let tries = 0; this.#end - this.#next < count; tries++) {
      if (tries === MAX_TRIES) {
        throw new VfsError('EUNAVAILABLE', '/', { detail: 'other processes keep taking ids; try again' })
      }
      this.#reserve(Math.max(BLOCK, count))
    }
  }

  #reserve(count: number): void {
    if (this.#reserving !== undefined) throw new PageFault(this.#reserving)
    const found = this.#reader.record(KEY)
    const start = found === undefined ? 1 : unseal<number>(found, 'the record of ids')
    const records = [{ key: KEY, bytes: seal(start + count) }]
    const take = (isOurs: boolean) => {
      if (!isOurs) return
      // What is left of the old block is given up: numbers are plenty, and a block must be of one piece.
      this.#next = start
      this.#end = start + count
    }
    const expect = [{ key: KEY, bytes: found ?? null }]
    // A collection takes numbers too, for the pages it writes.
    const commit = this.#reader.engine.commit({ expect, records, isDerived: true, frees: true })
    if (!(commit instanceof Promise)) {
      take(commit)
      return
    }
    this.#reserving = commit.then(take).finally(() => {
      this.#reserving = undefined
    })
    throw new PageFault(this.#reserving)
  }
}
