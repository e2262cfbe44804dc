import { setImmediate as nextTurn } from 'node:timers/promises'
import { VfsError } from '../../vfs/index.ts'
import { applyOperation } from '../files/apply.ts'
import { VaultFiles } from '../files/vault-files.ts'
import type { StoreHome } from '../store-home.ts'
import { Tree } from '../tree/tree.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import { listInheritedCheckpoints } from './checkpoints.ts'
import type { NumberedJournalEntry } from './journal.ts'
import { listInheritedLandmarks } from './landmarks.ts'
import { toMoment } from './replica.ts'
import type { VaultLog } from './vault-log.ts'

/** A tree, and the last journal row that it includes. */
interface TreeAtRow {
  readonly root: NodeRef<TreeValue>
  readonly seq: number
}

/**
 * Rebuilds the files of a vault as they were after a journal row: from the nearest stored tree before it, by the rows
 * in between. ENOENT if a garbage collection removed those rows, EINVAL for a row that does not exist yet.
 */
export async function replayJournal(home: StoreHome, log: VaultLog, seq: number): Promise<VaultFiles> {
  await log.commitPending()
  await home.reader.run(() => log.refresh())
  if (seq > log.seq) {
    const detail = `the journal ends at row ${log.seq}; there is no row ${seq}`
    throw new VfsError('EINVAL', '/', { op: 'journal', detail })
  }
  return home.session.withHolds(async (hold) => {
    let { root, seq: applied } = await home.reader.run(() => findStoredTree(home, log, seq))
    if (typeof root === 'number') hold(root)
    while (applied < seq) {
      const [base, last] = [root, applied]
      const entries = await home.reader.run(() =>
        log.journal.readAfter(last, seq - last).filter((row) => row.seq <= seq),
      )
      assertRows(last, entries)
      // From the same tree each time it is restarted: a remote engine interrupts it to load a page.
      root = await home.reader.run(() => applyEntries(home, base, entries))
      applied = entries.at(-1)?.seq ?? seq
      await nextTurn()
    }
    return new VaultFiles(new Tree(home.cache, root))
  })
}

/** Finds the stored tree with the most rows up to one. */
function findStoredTree(home: StoreHome, log: VaultLog, seq: number): TreeAtRow {
  const { head } = log
  const stored: readonly TreeAtRow[] = [
    head,
    ...head.lineage,
    ...home.getCheckpoints(log).list(),
    ...listInheritedCheckpoints(home.reader, head),
    ...listInheritedLandmarks(home.reader, head),
  ]
  const [nearest] = stored.filter((tree) => tree.seq <= seq).sort((one, other) => other.seq - one.seq)
  if (nearest !== undefined) return nearest
  const files = new VaultFiles(new Tree(home.cache))
  files.createRoot(toMoment(head.created, 0))
  return { root: files.tree.snapshot(), seq: 0 }
}

/** Applies rows to a tree; returns the root of the result. */
function applyEntries(
  home: StoreHome,
  root: NodeRef<TreeValue>,
  entries: readonly NumberedJournalEntry[],
): NodeRef<TreeValue> {
  const files = new VaultFiles(new Tree(home.cache, root))
  for (const { operation, time, seq } of entries) applyOperation(files, operation, toMoment(time, seq))
  return files.tree.snapshot()
}

/** ENOENT if the next row was pruned. */
function assertRows(after: number, entries: readonly NumberedJournalEntry[]): void {
  if (entries[0]?.seq === after + 1) return
  const detail =
    'a garbage collection removed the journal of that time; choose a later moment or a checkpoint'
  throw new VfsError('ENOENT', '/', { op: 'journal', detail })
}
