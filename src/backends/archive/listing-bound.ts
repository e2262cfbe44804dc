import { VfsError } from '../../vfs/index.ts'

/** The default of `maxEntries`. */
const MAX_ENTRIES = 1_000_000
/** Names, link targets and comments of all entries together. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024

/** Bounds the memory that the listing of an archive takes: a few compressed kilobytes can list millions of entries. */
export class ListingBound {
  readonly #archive: string
  readonly #maxEntries: number
  #entries = 0
  #textBytes = 0

  constructor(archive: string, maxEntries: number = MAX_ENTRIES) {
    this.#archive = archive
    this.#maxEntries = maxEntries
  }

  /** Counts an entry. EFBIG. */
  add(textBytes: number): void {
    this.#entries += 1
    this.#textBytes += textBytes
    if (this.#entries > this.#maxEntries)
      throw this.#exceeded(`it lists more than ${this.#maxEntries} entries; raise maxEntries`)
    if (this.#textBytes > MAX_TEXT_BYTES)
      throw this.#exceeded(`its names have more than ${MAX_TEXT_BYTES} bytes together; split the archive`)
  }

  #exceeded(detail: string): VfsError {
    return new VfsError('EFBIG', this.#archive, { op: 'open', detail })
  }
}
