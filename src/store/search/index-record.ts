import type { Answer, Engine } from '../engine.ts'
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

/** A record together with what a replacement of it has to expect. */
export interface ReadRecord {
  readonly record: IndexRecord
  readonly found: Uint8Array | null
}

/** Where a vault's index is noted. */
export interface IndexRecords {
  read(): Answer<ReadRecord>
  /** Stores pages and the record that leads to them in one commit. Undefined: somebody else was first. */
  replace(
    found: Uint8Array | null,
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): Answer<Uint8Array | undefined>
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
    const found = (await this.#engine.readRecord(this.#key)) ?? null
    if (found !== null) return { found, record: decode(found) }
    for (const key of this.#ancestors) {
      const bytes = await this.#engine.readRecord(key)
      const current = bytes && decode(bytes).current
      if (current) return { found, record: { current } }
    }
    return { found, record: {} }
  }

  async replace(
    found: Uint8Array | null,
    record: IndexRecord,
    pages: readonly EncodedPage[],
  ): Promise<Uint8Array | undefined> {
    const key = this.#key
    const bytes = Buffer.from(JSON.stringify({ format: FORMAT, ...record }))
    const batch = { expect: [{ key, bytes: found }], records: [{ key, bytes }], pages }
    return (await this.#engine.commit(batch)) ? bytes : undefined
  }
}

function decode(bytes: Uint8Array): IndexRecord {
  const { format, ...record } = JSON.parse(Buffer.from(bytes).toString())
  return format === FORMAT ? record : {}
}
