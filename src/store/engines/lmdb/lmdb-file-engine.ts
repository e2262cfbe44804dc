import { join } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import type { Engine, EngineUsage, JournalRow, RecordRow } from '../../engine.ts'
import { FileSegments } from '../../segments/file-segments.ts'
import { decodeNumberAt } from '../binary-keys.ts'
import { LmdbFile } from './lmdb-file.ts'
import { SEGMENT_DIRECTORY } from './lmdb-tables.ts'

/** Bytes of a key: of a page or blob, and of a journal row. */
const ID_KEY_BYTES = 8
const JOURNAL_KEY_BYTES = 2 * ID_KEY_BYTES

type ReadBytes = () => Uint8Array | undefined

/** Read-only engine for the readable part of a damaged LMDB environment, for salvage. */
export class LmdbFileEngine implements Engine {
  readonly name = 'lmdb'
  readonly isSync = true
  readonly isReadOnly = true
  readonly segments: FileSegments
  readonly #file: LmdbFile
  readonly #pages: Map<number, ReadBytes>
  readonly #blobs: Map<number, ReadBytes>
  readonly #journal: readonly { readonly vault: number; readonly seq: number; readonly read: ReadBytes }[]
  readonly #records: Map<string, ReadBytes>

  constructor({ directory }: { readonly directory: string }) {
    this.#file = new LmdbFile(join(directory, 'data.mdb'))
    this.segments = new FileSegments(join(directory, SEGMENT_DIRECTORY))
    this.#pages = this.#mapById('pages')
    this.#blobs = this.#mapById('blobs')
    this.#journal = this.#listEntries('journal', JOURNAL_KEY_BYTES)
      .map(({ key, read }) => ({
        vault: decodeNumberAt(key, 0),
        seq: decodeNumberAt(key, ID_KEY_BYTES),
        read,
      }))
      .toSorted((one, other) => one.seq - other.seq)
    const records = this.#listEntries('records', 1).map(({ key, read }) => [key.toString(), read] as const)
    this.#records = new Map(records.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  findDamage(): readonly string[] {
    return this.#file.damage
  }

  readPage(id: number): Uint8Array | undefined {
    return this.#pages.get(id)?.()
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#blobs.get(id)?.()
  }

  /** Finds nothing: a salvage looks for no blob by its hash. */
  findBlob(): undefined {
    return undefined
  }

  readRecord(key: string): Uint8Array | undefined {
    return this.#records.get(key)?.()
  }

  listRecords(prefix: string): RecordRow[] {
    return [...this.#records].flatMap(([key, read]) => {
      const bytes = key.startsWith(prefix) ? read() : undefined
      return bytes === undefined ? [] : [{ key, bytes }]
    })
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const rows = this.#journal.filter((row) => row.vault === vault && row.seq > after).slice(0, limit)
    return rows.map(({ seq, read }) => ({ vault, seq, bytes: read() ?? new Uint8Array(0) }))
  }

  listPages(after: number, limit: number): number[] {
    return listAfter(this.#pages, after, limit)
  }

  listBlobs(after: number, limit: number): number[] {
    return listAfter(this.#blobs, after, limit)
  }

  /** Counts rows; their sizes stay 0. */
  usage(): EngineUsage {
    const count = (size: number) => ({ count: size, bytes: 0 })
    const [pages, blobs] = [count(this.#pages.size), count(this.#blobs.size)]
    return { pages, blobs, journal: count(this.#journal.length), totalBytes: 0 }
  }

  changeCount(): number {
    return 0
  }

  commit(): never {
    const detail = 'the store is damaged and open to be salvaged; it cannot be written'
    throw new VfsError('EROFS', '/', { op: 'commit', detail })
  }

  sync(): void {}

  async close(): Promise<void> {
    this.segments.close()
    this.#file[Symbol.dispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #mapById(table: string): Map<number, ReadBytes> {
    return new Map(
      this.#listEntries(table, ID_KEY_BYTES).map(({ key, read }) => [decodeNumberAt(key, 0), read]),
    )
  }

  /** Lists the entries of a table whose key is long enough: a damaged one may not be. */
  #listEntries(table: string, minKeyBytes: number): { readonly key: Buffer; readonly read: ReadBytes }[] {
    return [...this.#file.listEntries(table)].filter(({ key }) => key.length >= minKeyBytes)
  }
}

function listAfter(rows: ReadonlyMap<number, ReadBytes>, after: number, limit: number): number[] {
  const found = [...rows.keys()].filter((id) => id > after)
  return found.toSorted((one, other) => one - other).slice(0, limit)
}
