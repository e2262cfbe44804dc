import type { Files } from '../files/files.ts'
import { type HeldTree, IndexWriter, type IndexWriterParts } from './index-writer.ts'
import type { LookUp } from './look-up.ts'

/** An index on its way to cover what a search reads. */
export class IndexUpdate {
  readonly files: Files
  readonly writer: IndexWriter
  /** What is still to be indexed; undefined if that is everything that was not searched. */
  readonly rest: Set<number> | undefined
  readonly #isMuch: (update: IndexUpdate) => boolean
  added = 0
  bytes = 0

  constructor(
    parts: IndexWriterParts,
    files: Files,
    covers: HeldTree,
    { read, state, coverage }: LookUp,
    isMuch: (update: IndexUpdate) => boolean,
  ) {
    this.files = files
    this.#isMuch = isMuch
    this.rest = coverage && new Set(coverage.uncovered)
    const stale = coverage?.uncovered ?? new Set<number>()
    const goal = { read, base: state, covers, stale, gone: coverage?.gone ?? 0 }
    this.writer = new IndexWriter(parts, goal)
  }

  async add(number: number, bytes: Uint8Array | undefined): Promise<void> {
    // A file with several names is met several times.
    if (this.rest !== undefined && !this.rest.delete(number)) return
    this.added++
    this.bytes += bytes?.length ?? 0
    await this.writer.add(number, bytes)
    if (this.#isMuch(this)) await this.writer.hold()
  }
}
