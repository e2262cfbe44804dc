import type { JournalRow } from '../engine.ts'
import type { JournalEntry } from '../files/operation.ts'
import type { EngineReader } from '../reader.ts'
import { seal, unseal } from '../sealed.ts'
import { type Head, startOf } from './head.ts'
import { newIdentity } from './identity.ts'

const ROWS_AT_ONCE = 1000

/** A journal entry with its place. */
export type NumberedEntry = JournalEntry & { readonly seq: number }

/**
 * The journal of a vault, what it inherited included: rows from before a fork are in the journals of its ancestors.
 * Synchronous reads of pieces; whoever streams asks for one piece after another.
 */
export class Journal {
  readonly #reader: EngineReader
  readonly #head: Head

  constructor(reader: EngineReader, head: Head) {
    this.#reader = reader
    this.#head = head
  }

  /** The row before the vault's own first one. */
  get start(): number {
    return startOf(this.#head)
  }

  /** Some entries after a row, in order; none at the end. */
  after(seq: number): NumberedEntry[] {
    const { vault, upTo } = this.#holderOf(seq + 1)
    const limit = Math.min(ROWS_AT_ONCE, upTo - seq)
    return numbered(this.#reader.rows(vault, seq, limit)).filter((entry) => entry.seq <= upTo)
  }

  /** Some entries before a row, the newest first, at most so many; none at the beginning. */
  before(seq: number, most: number = ROWS_AT_ONCE): NumberedEntry[] {
    if (seq <= 1) return []
    const { vault, start } = this.#holderOf(seq - 1)
    const from = Math.max(start, seq - 1 - Math.min(most, ROWS_AT_ONCE))
    // Where old rows were pruned, the next ones come in their place.
    const entries = numbered(this.#reader.rows(vault, from, seq - 1 - from))
    return entries.filter((entry) => entry.seq < seq).toReversed()
  }

  /** One entry, if it is still there. */
  at(seq: number): NumberedEntry | undefined {
    const [row] = seq < 1 ? [] : this.#reader.rows(this.#holderOf(seq).vault, seq - 1, 1)
    return row?.seq === seq ? { ...decodeEntry(row.bytes), seq } : undefined
  }

  /** Whose journal has a row. */
  #holderOf(seq: number): { vault: number; start: number; upTo: number } {
    const { id, lineage } = this.#head
    let holder = { vault: id, start: this.start, upTo: Number.POSITIVE_INFINITY }
    for (const [index, ancestor] of lineage.entries()) {
      if (seq > ancestor.seq) break
      holder = { vault: ancestor.id, start: lineage[index + 1]?.seq ?? 0, upTo: ancestor.seq }
    }
    return holder
  }
}

function numbered(rows: readonly JournalRow[]): NumberedEntry[] {
  return rows.map((row) => ({ ...decodeEntry(row.bytes), seq: row.seq }))
}

/** An entry as a new row, with an identity of its own. */
export function encodeEntry(entry: JournalEntry): Uint8Array {
  return seal({ id: newIdentity(), ...entry })
}

export function decodeEntry(bytes: Uint8Array): JournalEntry {
  return unseal(bytes, 'a row of the journal')
}
