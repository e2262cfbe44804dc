import { isVfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { Engine, MaybePromise, RecordRow } from '../engine.ts'
import type { EncodedPage } from '../tree/node-cache.ts'

/** Version of the format; records of other versions are ignored. */
const INDEX_FORMAT = 1

/** A block of the index, with the sizes that decide whether it is merged with others. */
export interface BlockInfo {
  readonly id: number
  readonly documents: number
  readonly postings: number
}

/** An index and the tree it covers. It serves every tree related to that one. */
export interface IndexState {
  /** Root of the vault's tree. */
  readonly covers: number
  /** Root of the index's own tree. */
  readonly index: number
  readonly blocks: readonly BlockInfo[]
  /** Number of documents whose files have changed or been removed since. */
  readonly dead: number
}

/** Index record of a vault: the current index, and one in progress that is not used yet. */
export interface IndexRecord {
  readonly current?: IndexState
  readonly draft?: IndexState
}

/** A record, and the expectation for its replacement: while it holds, every page of the index exists. */
export interface IndexRecordSnapshot {
  readonly record: IndexRecord
  readonly expect: readonly RecordRow[]
}

/** Storage of a vault's index record. */
export interface IndexRecords {
  read(): MaybePromise<IndexRecordSnapshot>
  /**
   * Stores pages and the record that names them in one commit; returns the expectation for the next replacement.
   * Undefined if another writer was first.
   */
  replace(
    expect: readonly RecordRow[],
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): MaybePromise<readonly RecordRow[] | undefined>
}

/** Returns the key of a vault's index record. */
export function indexKey(vaultId: number): string {
  return `index/${vaultId}`
}

/** Lists every root a record names: trees that must stay. */
export function listIndexRoots(bytes: Uint8Array): number[] {
  const { current, draft } = decodeIndexRecord(bytes)
  return [current, draft].flatMap((state) => (state === undefined ? [] : [state.covers, state.index]))
}

/** Index records in an engine. A vault without its own record starts from its nearest ancestor's. */
export class EngineIndexRecords implements IndexRecords {
  readonly #engine: Engine
  readonly #key: string
  readonly #ancestors: readonly string[]

  /** @param vaultIds the vault's own id, then those of its ancestors, the nearest first */
  constructor(engine: Engine, [own, ...ancestors]: readonly [number, ...number[]]) {
    this.#engine = engine
    this.#key = indexKey(own)
    this.#ancestors = ancestors.map(indexKey)
  }

  async read(): Promise<IndexRecordSnapshot> {
    const own = await this.#readRow(this.#key)
    if (own.bytes !== null) return { record: decodeIndexRecord(own.bytes), expect: [own] }
    for (const key of this.#ancestors) {
      const row = await this.#readRow(key)
      const current = row.bytes === null ? undefined : decodeIndexRecord(row.bytes).current
      if (current !== undefined) return { record: { current }, expect: [own, row] }
    }
    return { record: {}, expect: [own] }
  }

  async replace(
    expect: readonly RecordRow[],
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): Promise<readonly RecordRow[] | undefined> {
    const bytes = encodeChecksummedJson({ format: INDEX_FORMAT, ...record })
    const records = [{ key: this.#key, bytes }]
    return (await this.#engine.commit({ expect, records, pages })) ? records : undefined
  }

  async #readRow(key: string): Promise<RecordRow> {
    return { key, bytes: (await this.#engine.readRecord(key)) ?? null }
  }
}

/** Decodes a record; a damaged or unknown one counts as absent, and the index is rebuilt. */
function decodeIndexRecord(bytes: Uint8Array): IndexRecord {
  try {
    const { format, ...record } = decodeChecksummedJson<IndexRecord & { format: number }>(
      bytes,
      'the record of an index',
    )
    return format === INDEX_FORMAT ? record : {}
  } catch (error) {
    if (isVfsError(error, 'EIO')) return {}
    throw error
  }
}
