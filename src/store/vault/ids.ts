import { VfsError } from '../../vfs/index.ts'
import type { Answer } from '../engine.ts'
import { commitError } from '../engines/engine-errors.ts'
import { chain, type EngineReader } from '../reader.ts'
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
    const reserved = this.#ask(count)
    if (!(reserved instanceof Promise)) return
    this.#reserving = reserved.catch(failed).finally(() => {
      this.#reserving = undefined
    })
    throw new PageFault(this.#reserving)
  }

  /** Asks anew each time: what a piece of work was answered before is what another has taken since. */
  #ask(count: number): Answer<void> {
    try {
      return chain(this.#reader.engine.readRecord(KEY), (found) => this.#take(found, count))
    } catch (error) {
      return failed(error)
    }
  }

  /** Takes a block, unless another process does so first. If the answer is lost, so is a block: they are plenty. */
  #take(found: Uint8Array | undefined, count: number): Answer<void> {
    const start = found === undefined ? 1 : unseal<number>(found, 'the record of ids')
    const records = [{ key: KEY, bytes: seal(start + count) }]
    const expect = [{ key: KEY, bytes: found ?? null }]
    // A collection takes numbers too, for the pages it writes.
    const commit = this.#reader.engine.commit({ expect, records, isDerived: true, frees: true })
    return chain(commit, (isOurs) => {
      if (!isOurs) return
      // What is left of the old block is given up: a block must be of one piece.
      this.#next = start
      this.#end = start + count
    })
  }
}

function failed(error: unknown): never {
  throw commitError(error)
}
