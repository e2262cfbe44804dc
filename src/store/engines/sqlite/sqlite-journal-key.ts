import type { JournalRow } from '../../engine.ts'

/** Number of keys for each vault's journal. One integer key has vault and sequence number, so rows are appended. */
const JOURNAL_SPAN = 2 ** 36
/** Largest sequence number of a row. */
export const MAX_SEQ: number = JOURNAL_SPAN - 1

/** Returns the key of a row; a bigint where a number would be rounded, from vault 131,072 on. */
export function toJournalKey({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): number | bigint {
  const key = vault * JOURNAL_SPAN + seq
  return Number.isSafeInteger(key) ? key : BigInt(vault) * BigInt(JOURNAL_SPAN) + BigInt(seq)
}

/** Returns the largest key of a vault's journal. */
export function toLastJournalKey(vault: number): number | bigint {
  return toJournalKey({ vault, seq: MAX_SEQ })
}
