import {
  listDentries,
  type NameChange,
  type StoreHome,
  type Tree,
  type TreeValue,
  VaultFiles,
  type VaultLog,
} from '../../store/index.ts'
import { CommitSignal } from './commit-signal.ts'

/** Options of `watchForeignChanges`. */
export interface ForeignChangeOptions {
  /** The trace of the watcher, whose own changes are not reported. */
  readonly trace: string
  readonly signal: AbortSignal
  /** Called once the watch has started: it reports every later change. */
  readonly onReady?: () => void
}

/** Changed names, and inodes with any change. A name counts as changed if it leads elsewhere or to a changed file. */
export interface ChangedInodes {
  readonly names: readonly NameChange[]
  readonly inodes: readonly number[]
}

/**
 * Yields the names and inodes that other writers change, until the signal aborts. It may report own changes of the same
 * moment, but never misses a foreign one.
 */
export async function* watchForeignChanges(
  home: StoreHome,
  log: VaultLog,
  { trace, signal, onReady }: ForeignChangeOptions,
): AsyncGenerator<ChangedInodes> {
  const { reader } = home
  const readState = async () => {
    await home.session.beginRead()
    return reader.run(() => {
      const tree = log.readFiles().tree.fork()
      return { seq: log.seq, tree, hold: home.session.hold(tree) }
    })
  }
  const commits = new CommitSignal(log, signal)
  try {
    let state = await readState()
    /**
     * The last journal row whose author is known. Own changes are read only when idle, or together with foreign ones.
     */
    let checkedSeq = state.seq
    onReady?.()
    while (!signal.aborted) {
      await commits.next()
      const rows = await reader.run(() => checkRowsAfter(log, checkedSeq, trace))
      const isQuiet = rows.last === checkedSeq
      if (isQuiet ? state.seq === checkedSeq : !rows.isForeign) {
        checkedSeq = rows.last
        continue
      }
      const [before, checkedBefore] = [state, checkedSeq]
      state = await readState()
      checkedSeq = state.seq
      const hasForeignChange =
        rows.isForeign || (await reader.run(() => checkRowsAfter(log, checkedBefore, trace))).isForeign
      if (hasForeignChange) yield await reader.run(() => diffInodes(home, before.tree, state.tree))
      before.hold.release()
    }
  } finally {
    commits.close()
  }
}

function diffInodes(home: StoreHome, before: Tree<TreeValue>, after: Tree<TreeValue>): ChangedInodes {
  const [old, current] = [before.snapshot(), after.snapshot()]
  const inodes = [...home.trees.listChangedInodes(old, current)]
  const files = new VaultFiles(after)
  const names = inodes.flatMap((ino) => listFileNames(files, ino))
  return { names: [...home.trees.listChangedNames(old, current), ...names], inodes }
}

/** Returns the names of a file; none for any other inode. */
function listFileNames(files: VaultFiles, ino: number): NameChange[] {
  const inode = files.findInode(ino)
  return inode?.type === 'file' ? listDentries(files, ino, inode) : []
}

/** Returns the last row, and whether another writer made any row after `since`. Pruned rows count as foreign. */
function checkRowsAfter(
  log: VaultLog,
  since: number,
  trace: string,
): { readonly last: number; readonly isForeign: boolean } {
  let last = since
  let isForeign = false
  for (;;) {
    const entries = log.journal.readAfter(last)
    const end = entries.at(-1)
    if (end === undefined) return { last, isForeign }
    isForeign ||= entries[0]?.seq !== last + 1 || entries.some((entry) => entry.trace !== trace)
    last = end.seq
  }
}
