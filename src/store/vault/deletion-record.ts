import type { RecordRow } from '../engine.ts'

export const deletionPrefix = 'deleted/'

/** Last row of a deleted vault's journal. */
export interface LastRow {
  readonly seq: number
  readonly time: number
}

/** The deletion of a vault. */
export interface VaultDeletion {
  readonly id: number
  /** Undefined until the rows before it are pruned. */
  readonly lastRow: LastRow | undefined
}

/** Creates the record of a deletion: the vault's name, or the last row of its journal once that is all that is left. */
export function createDeletionRecord(id: number, content: string | LastRow): RecordRow {
  const text = typeof content === 'string' ? content : encodeLastRow(content)
  return { key: getDeletionKey(id), bytes: Buffer.from(text) }
}

export function getDeletionKey(id: number): string {
  return `${deletionPrefix}${id}`
}

export function decodeDeletionRecord({ key, bytes }: RecordRow): VaultDeletion {
  const text = Buffer.from(bytes ?? []).toString()
  // No name of a vault begins with a brace.
  const lastRow = text.startsWith('{') ? JSON.parse(text) : undefined
  return { id: Number(key.slice(deletionPrefix.length)), lastRow }
}

function encodeLastRow({ seq, time }: LastRow): string {
  return JSON.stringify({ seq, time })
}
