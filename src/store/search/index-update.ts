import type { VaultFiles } from '../files/vault-files.ts'
import type { IndexLookup } from './index-lookup.ts'
import { type FlushedTree, IndexWriter, type IndexWriterContext } from './index-writer.ts'

/** An index update during a search, from the files it reads. */
export class IndexUpdate {
  readonly files: VaultFiles
  readonly writer: IndexWriter
  /** Files still to be indexed; undefined if those are all that the search does not read. */
  readonly rest: Set<number> | undefined
  readonly #exceedsLimits: (update: IndexUpdate) => boolean
  /** Number and size of the files added so far. */
  added = 0
  bytes = 0

  constructor(
    context: IndexWriterContext,
    files: VaultFiles,
    covers: FlushedTree,
    { snapshot, state, coverage }: IndexLookup,
    exceedsLimits: (update: IndexUpdate) => boolean,
  ) {
    this.files = files
    this.#exceedsLimits = exceedsLimits
    this.rest = coverage && new Set(coverage.uncovered)
    const stale = coverage?.uncovered ?? new Set<number>()
    const target = { snapshot, base: state, covers, stale, outdated: coverage?.outdated ?? 0 }
    this.writer = new IndexWriter(context, target)
  }

  /** Adds a file that the search has read; without bytes, every search reads it. */
  async add(number: number, bytes: Uint8Array | undefined): Promise<void> {
    // A walk meets a hard-linked file several times.
    if (this.rest !== undefined && !this.rest.delete(number)) return
    this.added++
    this.bytes += bytes?.length ?? 0
    await this.writer.add(number, bytes)
    if (this.#exceedsLimits(this)) await this.writer.saveDraft()
  }
}
