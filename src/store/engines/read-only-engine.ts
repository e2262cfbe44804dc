import { VfsError } from '../../vfs/index.ts'
import type { Answer, Batch, Engine, EngineUsage, JournalRow, RecordRow } from '../engine.ts'
import { chain } from '../reader.ts'
import { isCurrent } from './batch-checks.ts'

export interface ReadOnlyOptions {
  readonly onClose?: () => void
  /** What is known to be damaged in the store that this is a copy of. */
  readonly damage?: readonly string[]
}

/**
 * A store that cannot be written. What is derived from it, such as the pages of rows that its journal has, is kept in
 * memory for as long as it is open; every other commit is EROFS.
 */
export class ReadOnlyEngine implements Engine {
  readonly name: string
  readonly answersAtOnce: boolean
  readonly isReadOnly = true
  readonly #engine: Engine
  readonly #home: string
  readonly #onClose: () => void
  readonly #damage: readonly string[] | undefined
  readonly #pages = new Map<number, Uint8Array>()
  readonly #records = new Map<string, Uint8Array>()

  /** @param home its directory, for errors. */
  constructor(engine: Engine, home: string, { onClose = () => {}, damage }: ReadOnlyOptions = {}) {
    this.name = engine.name
    this.answersAtOnce = engine.answersAtOnce === true
    this.#engine = engine
    this.#home = home
    this.#onClose = onClose
    this.#damage = damage
  }

  readPage(id: number): Answer<Uint8Array | undefined> {
    return this.#pages.get(id) ?? this.#engine.readPage(id)
  }

  readBlob(id: number): Answer<Uint8Array | undefined> {
    return this.#engine.readBlob(id)
  }

  findBlob(hash: Uint8Array): Answer<number | undefined> {
    return this.#engine.findBlob(hash)
  }

  readRecord(key: string): Answer<Uint8Array | undefined> {
    return this.#records.get(key) ?? this.#engine.readRecord(key)
  }

  listRecords(prefix: string): Answer<readonly RecordRow[]> {
    return chain(this.#engine.listRecords(prefix), (rows) =>
      rows.map((row) => ({ key: row.key, bytes: this.#records.get(row.key) ?? row.bytes })),
    )
  }

  readJournal(vault: number, after: number, limit: number): Answer<readonly JournalRow[]> {
    return this.#engine.readJournal(vault, after, limit)
  }

  listPages(after: number, limit: number): Answer<readonly number[]> {
    return this.#engine.listPages(after, limit)
  }

  listBlobs(after: number, limit: number): Answer<readonly number[]> {
    return this.#engine.listBlobs(after, limit)
  }

  usage(): Answer<EngineUsage> {
    return this.#engine.usage()
  }

  findDamage(): readonly string[] {
    return this.#damage ?? this.#engine.findDamage?.() ?? []
  }

  changeCount(): Answer<number> {
    return this.#engine.changeCount()
  }

  commit(batch: Batch): Answer<boolean> {
    if (Object.keys(batch).length === 0) return true
    if (batch.isDerived !== true) throw this.#refusal()
    const keys = (batch.expect ?? []).map(({ key }) => key)
    return chain(this.#readRecords(keys), (found) => {
      const present = {
        record: (key: string) => found.get(key),
        blobOf: () => undefined,
        isTaken: () => false,
      }
      if (!isCurrent(batch, present)) return false
      for (const { id, bytes } of batch.pages ?? []) this.#pages.set(id, bytes)
      for (const { key, bytes } of batch.records ?? []) if (bytes !== null) this.#records.set(key, bytes)
      return true
    })
  }

  /** Nothing was acknowledged that is not on disk. */
  sync(): void {}

  async close(): Promise<void> {
    try {
      await this.#engine.close()
    } finally {
      this.#onClose()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #readRecords(keys: readonly string[]): Answer<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    const readNext = (index: number): Answer<Map<string, Uint8Array>> => {
      const key = keys[index]
      if (key === undefined) return found
      return chain(this.readRecord(key), (bytes) => {
        if (bytes !== undefined) found.set(key, bytes)
        return readNext(index + 1)
      })
    }
    return readNext(0)
  }

  #refusal(): VfsError {
    const next = 'copy it to a place that you can write, and name that as the home'
    const detail = `the home ${this.#home} cannot be written, so it is open for reading only; ${next}`
    return new VfsError('EROFS', this.#home, { op: 'commit', detail })
  }
}
