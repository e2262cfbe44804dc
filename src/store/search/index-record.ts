import { isVfsError } from '../../vfs/index.ts'
import type { Answer, Engine, RecordRow } from '../engine.ts'
import { seal, unseal } from '../sealed.ts'
import type { EncodedPage } from '../tree/node-cache.ts'

/** One version of the layout; a record of another one is as good as none. */
const FORMAT = 1

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
export interface ReadRecord {
  readonly record: IndexRecord
  readonly expect: readonly RecordRow[]
}

/** Where a vault's index is noted. */
export interface IndexRecords {
  read(): Answer<ReadRecord>
  /**
   * Stores pages and the record that leads to them in one commit, and returns what the next replacement has to expect.
   * Undefined if somebody else was first.
   */
  replace(
    expect: readonly RecordRow[],
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): Answer<readonly RecordRow[] | undefined>
}

/** The key of a vault's record. */
export function indexKey(vaultId: number): string {
  return `index/${vaultId}`
}

/** Every root a record leads to: trees that must stay. */
export function indexRoots(bytes: Uint8Array): number[] {
  const { current, draft } = decode(bytes)
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

  async read(): Promise<ReadRecord> {
    const own = await this.#row(this.#key)
    if (own.bytes !== null) return { record: decode(own.bytes), expect: [own] }
    for (const key of this.#ancestors) {
      const row = await this.#row(key)
      const current = row.bytes === null ? undefined : decode(row.bytes).current
      if (current !== undefined) return { record: { current }, expect: [own, row] }
    }
    return { record: {}, expect: [own] }
  }

  async replace(
    expect: readonly RecordRow[],
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): Promise<readonly RecordRow[] | undefined> {
    const bytes = seal({ format: FORMAT, ...record })
    const records = [{ key: this.#key, bytes }]
    return (await this.#engine.commit({ expect, records, pages })) ? records : undefined
  }

  async #row(key: string): Promise<RecordRow> {
    return { key, bytes: (await this.#engine.readRecord(key)) ?? null }
  }
}

/** A record that is damaged, or of another format, is as good as none: the index is made again. */
function decode(bytes: Uint8Array): IndexRecord {
  try {
    const { format, ...record } = unseal<IndexRecord & { format: number }>(bytes, 'the record of an index')
    return format === FORMAT ? record : {}
  } catch (error) {
    if (isVfsError(error, 'EIO')) return {}
    throw error
  }
}
