import { isVfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { Engine, MaybePromise, RecordRow } from '../engine.ts'
import type { EncodedPage } from '../tree/node-cache.ts'

/** One version of the layout; a record of another one is as good as none. */
const INDEX_FORMAT = 1

/** A part of the index, with what it takes to decide whether to join it with others. */
export interface BlockInfo {
  readonly id: number
  readonly documents: number
  readonly postings: number
}

/** An index and the tree whose files are all in it. It serves every tree related to that one. */
export interface IndexState {
  /** The root of the vault's tree. */
  readonly covers: number
  /** The root of the index's own tree. */
  readonly index: number
  readonly blocks: readonly BlockInfo[]
  /** How many documents stand for files that have changed or gone since. */
  readonly dead: number
}

/** What a vault remembers of its index: the one to use, and one that is being made and not to be used yet. */
export interface IndexRecord {
  readonly current?: IndexState
  readonly draft?: IndexState
}

/** A record, and what must not have changed when it is replaced: then every page it leads to is still there. */
export interface IndexRecordSnapshot {
  readonly record: IndexRecord
  readonly expect: readonly RecordRow[]
}

/** Where a vault's index is noted. */
export interface IndexRecords {
  read(): MaybePromise<IndexRecordSnapshot>
  /**
   * Stores pages and the record that leads to them in one commit, and returns what the next replacement has to expect.
   * Undefined if somebody else was first.
   */
  replace(
    expect: readonly RecordRow[],
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): MaybePromise<readonly RecordRow[] | undefined>
}

/** The key of a vault's record. */
export function indexKey(vaultId: number): string {
  return `index/${vaultId}`
}

/** Every root a record leads to: trees that must stay. */
export function listIndexRoots(bytes: Uint8Array): number[] {
  const { current, draft } = decodeIndexRecord(bytes)
  return [current, draft].flatMap((state) => (state === undefined ? [] : [state.covers, state.index]))
}

/** Records of an engine. A vault without one of its own starts from that of the vault it grew from. */
export class EngineIndexRecords implements IndexRecords {
  readonly #engine: Engine
  readonly #key: string
  readonly #ancestors: readonly string[]

  /** @param vaultIds the vault's own, then of those it grew from, the nearest first */
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

/** A record that is damaged, or of another format, is as good as none: the index is made again. */
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
