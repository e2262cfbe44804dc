import { VfsError } from '../../vfs/index.ts'

/** The default of `maxEntries`. */
export const MAX_ENTRIES = 1_000_000
/** Limit of the names, link targets and comments of all entries together. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024

/** Limits the memory for an archive's listing: a few compressed kilobytes can list millions of entries. */
export class ListingLimit {
  readonly #archive: string
  readonly #maxEntries: number
  #entries = 0
  #textBytes = 0

  constructor(archive: string, maxEntries: number = MAX_ENTRIES) {
    this.#archive = archive
    this.#maxEntries = maxEntries
  }

  /** Counts an entry. EFBIG beyond a limit. */
  add(textBytes: number): void {
    this.#entries += 1
    this.#textBytes += textBytes
    if (this.#entries > this.#maxEntries) throw createTooManyEntriesError(this.#archive, this.#maxEntries)
    if (this.#textBytes > MAX_TEXT_BYTES)
      throw createLimitError(
        this.#archive,
        `the names of the archive have more than ${MAX_TEXT_BYTES} bytes; split the archive`,
      )
  }
}

/** Returns the EFBIG error for an archive with too many entries, listed or implied. */
export function createTooManyEntriesError(archive: string, maxEntries: number): VfsError {
  return createLimitError(archive, `the archive has more than ${maxEntries} entries; raise maxEntries`)
}

function createLimitError(archive: string, detail: string): VfsError {
  return new VfsError('EFBIG', archive, { op: 'open', detail })
}
