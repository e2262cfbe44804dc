import { VfsError } from '../../vfs/index.ts'
import type { Batch, Engine, EngineUsage, JournalRow, MaybePromise, RecordRow } from '../engine.ts'
import { chain } from '../maybe-promise.ts'
import type { SegmentStore } from '../segments/segment-store.ts'
import { canCommit } from './can-commit.ts'

export interface ReadOnlyOptions {
  readonly onClose?: () => void
  /** Known damage of the original store, if this is a copy. */
  readonly damage?: readonly string[]
}

/**
 * A store that cannot be written. Derived data, such as pages of journal rows, stays in memory until it is closed;
 * an empty commit does nothing, and every other one is EROFS.
 */
export class ReadOnlyEngine implements Engine {
  readonly name: string
  readonly isSync: boolean
  readonly isReadOnly = true
  readonly segments: SegmentStore | undefined
  readonly #engine: Engine
  readonly #home: string
  readonly #onClose: () => void
  readonly #damage: readonly string[] | undefined
  readonly #pages = new Map<number, Uint8Array>()
  readonly #records = new Map<string, Uint8Array>()

  /** @param home directory of the home, for errors. */
  constructor(engine: Engine, home: string, { onClose = () => {}, damage }: ReadOnlyOptions = {}) {
    this.name = engine.name
    this.isSync = engine.isSync === true
    this.segments = engine.segments
    this.#engine = engine
    this.#home = home
    this.#onClose = onClose
    this.#damage = damage
  }

  readPage(id: number): MaybePromise<Uint8Array | undefined> {
    return this.#pages.get(id) ?? this.#engine.readPage(id)
  }

  readBlob(id: number): MaybePromise<Uint8Array | undefined> {
    return this.#engine.readBlob(id)
  }

  findBlob(hash: Uint8Array): MaybePromise<number | undefined> {
    return this.#engine.findBlob(hash)
  }

  readRecord(key: string): MaybePromise<Uint8Array | undefined> {
    return this.#records.get(key) ?? this.#engine.readRecord(key)
  }

  listRecords(prefix: string): MaybePromise<readonly RecordRow[]> {
    return chain(this.#engine.listRecords(prefix), (rows) =>
      rows.map((row) => ({ key: row.key, bytes: this.#records.get(row.key) ?? row.bytes })),
    )
  }

  readJournal(vault: number, after: number, limit: number): MaybePromise<readonly JournalRow[]> {
    return this.#engine.readJournal(vault, after, limit)
  }

  listPages(after: number, limit: number): MaybePromise<readonly number[]> {
    return this.#engine.listPages(after, limit)
  }

  listBlobs(after: number, limit: number): MaybePromise<readonly number[]> {
    return this.#engine.listBlobs(after, limit)
  }

  usage(): MaybePromise<EngineUsage> {
    return this.#engine.usage()
  }

  findDamage(): readonly string[] {
    return this.#damage ?? this.#engine.findDamage?.() ?? []
  }

  changeCount(): MaybePromise<number> {
    return this.#engine.changeCount()
  }

  readTogether<T>(work: () => T): T {
    return this.#engine.readTogether === undefined ? work() : this.#engine.readTogether(work)
  }

  commit(batch: Batch): MaybePromise<boolean> {
    if (Object.keys(batch).length === 0) return true
    if (batch.isDerived !== true) throw this.#createReadOnlyError()
    const keys = (batch.expect ?? []).map(({ key }) => key)
    return chain(this.#readRecords(keys), (found) => {
      const state = {
        record: (key: string) => found.get(key),
        findBlob: () => undefined,
        isTaken: () => false,
      }
      if (!canCommit(batch, state)) return false
      for (const { id, bytes } of batch.pages ?? []) this.#pages.set(id, bytes)
      for (const { key, bytes } of batch.records ?? []) if (bytes !== null) this.#records.set(key, bytes)
      return true
    })
  }

  /** Nothing to do: only derived commits are accepted. */
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

  #readRecords(keys: readonly string[]): MaybePromise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    const readNext = (index: number): MaybePromise<Map<string, Uint8Array>> => {
      const key = keys[index]
      if (key === undefined) return found
      return chain(this.readRecord(key), (bytes) => {
        if (bytes !== undefined) found.set(key, bytes)
        return readNext(index + 1)
      })
    }
    return readNext(0)
  }

  #createReadOnlyError(): VfsError {
    const next = 'copy it to a place that you can write, and name that as the home'
    const detail = `the home ${this.#home} cannot be written, so it is open for reading only; ${next}`
    return new VfsError('EROFS', this.#home, { op: 'commit', detail })
  }
}
