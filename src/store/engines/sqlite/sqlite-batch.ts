import { createRandomBytes } from '../../../machine/index.ts'
import type { Batch, Sweep } from '../../engine.ts'
import { getNeededFormat } from '../store-format.ts'
import type { SqliteFormat } from './sqlite-format.ts'
import { MAX_SEQ, toJournalKey } from './sqlite-journal-key.ts'
import type { SqliteStatements } from './sqlite-statements.ts'

/** A record that every durable commit changes. */
const SYNC_KEY = 'sync'

/** Applies a batch in the current transaction, and raises the format of the store if the batch needs that. */
export function applyBatch(
  statements: SqliteStatements,
  format: SqliteFormat,
  { sweep, records = [], pages = [], blobs = [], journal = [], durable = false }: Batch,
): void {
  if (sweep) {
    // A later version may store what this one does not know to be in use.
    format.assertKnown()
    deleteRows(statements, sweep)
  }
  statements.putAll('putBlob', blobs, getId)
  format.raise(getNeededFormat(blobs))
  for (const { id, hash } of blobs) if (hash.length > 0) statements.get('putHash').run(hash, id)
  statements.putAll('putPage', pages, getId)
  statements.putAll('putJournal', journal, toJournalKey)
  for (const { key, bytes } of records) {
    if (bytes === null) statements.get('deleteRecord').run(key)
    else statements.get('putRecord').run(key, bytes)
  }
  // A transaction that changes nothing syncs nothing.
  if (durable) statements.get('putRecord').run(SYNC_KEY, createRandomBytes(8))
}

/** Deletes swept rows. Hashes go before blobs: a blob is deleted only if no hash finds it any more. */
function deleteRows(
  statements: SqliteStatements,
  { pages = [], hashes = [], blobs = [], journal = [] }: Sweep,
): void {
  for (const id of pages) statements.get('deletePage').run(id)
  for (const { hash, blob } of hashes) statements.get('deleteHash').run(hash, blob)
  for (const { hash, blob } of blobs) statements.get('deleteBlob').run(blob, hash)
  for (const { vault, upTo } of journal) {
    const last = toJournalKey({ vault, seq: Math.min(upTo, MAX_SEQ) })
    statements.get('deleteJournal').run(toJournalKey({ vault, seq: 0 }), last)
  }
}

function getId({ id }: { readonly id: number }): number {
  return id
}
