import { join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import type { Engine, EngineUsage, JournalRow, RecordRow } from '../engine.ts'
import { numberAt } from './keys.ts'
import { LmdbFile } from './lmdb-file.ts'

type Read = () => Uint8Array | undefined

/** What can be read of a damaged LMDB environment, to salvage it. It cannot be written. */
export class LmdbFileEngine implements Engine {
  readonly name = 'lmdb'
  readonly answersAtOnce = true
  readonly isReadOnly = true
  readonly #file: LmdbFile
  readonly #pages: Map<number, Read>
  readonly #blobs: Map<number, Read>
  readonly #journal: readonly { readonly vault: number; readonly seq: number; readonly read: Read }[]
  readonly #records: Map<string, Read>

  constructor({ directory }: { readonly directory: string }) {
    this.#file = new LmdbFile(join(directory, 'data.mdb'))
    this.#pages = this.#numbered('pages')
    this.#blobs = this.#numbered('blobs')
    this.#journal = this.#entries('journal', 16)
      .map(({ key, read }) => ({ vault: numberAt(key, 0), seq: numberAt(key, 8), read }))
      .toSorted((one, other) => one.seq - other.seq)
    const records = this.#entries('records', 1).map(({ key, read }) => [key.toString(), read] as const)
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
    this.#file[Symbol.dispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #numbered(table: string): Map<number, Read> {
    return new Map(this.#entries(table, 8).map(({ key, read }) => [numberAt(key, 0), read]))
  }

  #entries(table: string, keyBytes: number): { readonly key: Buffer; readonly read: Read }[] {
    return [...this.#file.entries(table)].filter(({ key }) => key.length >= keyBytes)
  }
}

function listAfter(rows: ReadonlyMap<number, Read>, after: number, limit: number): number[] {
  const found = [...rows.keys()].filter((id) => id > after)
  return found.toSorted((one, other) => one - other).slice(0, limit)
}
