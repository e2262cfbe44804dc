import { decodeChecksummedJson, encodeChecksummedText } from '../checksummed-json.ts'
import type { JournalRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { JournalEntry } from '../files/operation.ts'
import { createRowId } from './row-id.ts'
import { getJournalStart, type VaultHead } from './vault-head.ts'

const ROWS_PER_READ = 1000

/** A journal entry with its sequence number. */
export type NumberedJournalEntry = JournalEntry & { readonly seq: number }

/**
 * The journal of a vault, including rows inherited from its ancestors before the fork. Reads batches synchronously; a
 * stream reads one batch after another.
 */
export class Journal {
  readonly #reader: EngineReader
  readonly #head: VaultHead

  constructor(reader: EngineReader, head: VaultHead) {
    this.#reader = reader
    this.#head = head
  }

  /** Last row before the vault's own journal. */
  get start(): number {
    return getJournalStart(this.#head)
  }

  /** Reads up to `limit` entries after a row, in order; none at the end. */
  readAfter(seq: number, limit: number = ROWS_PER_READ): NumberedJournalEntry[] {
    const { vault, upTo } = this.#getOwner(seq + 1)
    const rows = this.#reader.readJournal(vault, seq, Math.min(ROWS_PER_READ, limit, upTo - seq))
    const entries = decodeRows(rows).filter((entry) => entry.seq <= upTo)
    // The ancestor's rows were pruned: the vault's own may still be there.
    return entries.length === 0 && upTo < Number.POSITIVE_INFINITY ? this.readAfter(upTo, limit) : entries
  }

  /** Reads up to `limit` entries before a row, the newest first; none at the beginning. */
  readBefore(seq: number, limit: number = ROWS_PER_READ): NumberedJournalEntry[] {
    if (seq <= 1) return []
    const { vault, start } = this.#getOwner(seq - 1)
    const from = Math.max(start, seq - 1 - Math.min(limit, ROWS_PER_READ))
    // Where old rows were pruned, the read returns later ones.
    const entries = decodeRows(this.#reader.readJournal(vault, from, seq - 1 - from))
    return entries.filter((entry) => entry.seq < seq).toReversed()
  }

  /** Returns one entry, or undefined if it was pruned. */
  findEntry(seq: number): NumberedJournalEntry | undefined {
    const [row] = seq < 1 ? [] : this.#reader.readJournal(this.#getOwner(seq).vault, seq - 1, 1)
    return row?.seq === seq ? { ...decodeJournalEntry(row.bytes), seq } : undefined
  }

  /** Returns the vault whose journal has a row, and the range of its rows that belong to this journal. */
  #getOwner(seq: number): { vault: number; start: number; upTo: number } {
    const { id, lineage } = this.#head
    let owner = { vault: id, start: this.start, upTo: Number.POSITIVE_INFINITY }
    for (const [index, ancestor] of lineage.entries()) {
      if (seq > ancestor.seq) break
      owner = { vault: ancestor.id, start: lineage[index + 1]?.seq ?? 0, upTo: ancestor.seq }
    }
    return owner
  }
}

function decodeRows(rows: readonly JournalRow[]): NumberedJournalEntry[] {
  return rows.map((row) => ({ ...decodeJournalEntry(row.bytes), seq: row.seq }))
}

/** Encodes an entry as a new row with a random id. */
export function encodeJournalEntry(entry: JournalEntry): Uint8Array {
  // The id needs no escapes. A copy of the entry with it would take longer than the entry's text.
  return encodeChecksummedText(`{"id":"${createRowId()}",${JSON.stringify(entry).slice(1)}`)
}

export function decodeJournalEntry(bytes: Uint8Array): JournalEntry {
  return decodeChecksummedJson(bytes, 'a row of the journal')
}
