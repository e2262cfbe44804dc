import type { RecordRow } from '../engine.ts'
import type { StoreHome } from '../store-home.ts'
import {
  createDeletionRecord,
  decodeDeletionRecord,
  deletionPrefix,
  getDeletionKey,
  type LastRow,
  type VaultDeletion,
} from '../vault/deletion-record.ts'
import { readOperations } from './gc-roots.ts'

/** Retention of a deleted vault's last row: it refuses writes of processes that still have the vault open. */
const DELETED_VAULT_TTL_MS = 30 * 24 * 60 * 60 * 1000
/** Number of journals that one commit prunes. */
const BATCH_SIZE = 100

export async function listDeletedVaults({ reader }: StoreHome): Promise<readonly VaultDeletion[]> {
  const records = await reader.run(() => reader.listRecords(deletionPrefix))
  return records.map(decodeDeletionRecord)
}

/**
 * Removes the journals of deleted vaults, and their last rows after a month.
 *
 * @param keepsRecords true to keep the records of the deletions, which otherwise go with the last rows: without any
 * vault, a check knows by them that none is missing.
 */
export async function pruneDeletedVaults(
  home: StoreHome,
  deleted: readonly VaultDeletion[],
  keepsRecords: boolean,
): Promise<void> {
  // A home may have deleted thousands of forks this month: nothing is read or written for them again.
  const wanted = deleted.filter(({ lastRow }) => lastRow === undefined || isExpired(lastRow))
  for (let start = 0; start < wanted.length; start += BATCH_SIZE) {
    const journal: { vault: number; upTo: number }[] = []
    const records: RecordRow[] = []
    for (const { id, lastRow = await findLastRow(home, id) } of wanted.slice(start, start + BATCH_SIZE)) {
      const isOver = isExpired(lastRow)
      journal.push({ vault: id, upTo: isOver ? lastRow.seq : lastRow.seq - 1 })
      if (isOver && !keepsRecords) records.push({ key: getDeletionKey(id), bytes: null })
      else records.push(createDeletionRecord(id, lastRow))
    }
    // On a full disk, the records are little beside the rows that go.
    await home.engine.commit({ sweep: { journal }, records, frees: true })
  }
}

function isExpired({ time }: LastRow): boolean {
  return Date.now() - time > DELETED_VAULT_TTL_MS
}

async function findLastRow(home: StoreHome, vault: number): Promise<LastRow> {
  let last: LastRow = { seq: 0, time: 0 }
  for await (const entries of readOperations(home, { vault, start: 0, upTo: Number.POSITIVE_INFINITY }))
    last = entries.at(-1) ?? last
  return last
}
