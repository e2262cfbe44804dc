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

export interface ForeignChangeOptions {
  /** The trace of whoever wants to hear of nobody's changes but others'. */
  readonly trace: string
  readonly signal: AbortSignal
  /** Called once the watch has started: it reports every later change. */
  readonly onReady?: () => void
}

/** What is not as it was: names that lead elsewhere or to a changed file, and inodes of which anything differs. */
export interface ChangedInodes {
  readonly names: readonly NameChange[]
  readonly inodes: readonly number[]
}

/**
 * Yields the names and inodes that other writers change, until the signal aborts. It may report own changes of the
 * same moment, but never misses one.
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
  const bell = new CommitSignal(log, signal)
  try {
    let seen = await readState()
    /** Up to here it is known who did what. Own changes are only taken in when all is quiet, or together with others'. */
    let checked = seen.seq
    onReady?.()
    while (!signal.aborted) {
      await bell.next()
      const rows = await reader.run(() => checkRowsAfter(log, checked, trace))
      const isQuiet = rows.last === checked
      if (isQuiet ? seen.seq === checked : !rows.isForeign) {
        checked = rows.last
        continue
      }
      const [before, known] = [seen, checked]
      seen = await readState()
      checked = seen.seq
      const isNews = rows.isForeign || (await reader.run(() => checkRowsAfter(log, known, trace))).isForeign
      if (isNews) yield await reader.run(() => diffInodes(home, before.tree, seen.tree))
      before.hold.release()
    }
  } finally {
    bell.close()
  }
}

function diffInodes(home: StoreHome, before: Tree<TreeValue>, after: Tree<TreeValue>): ChangedInodes {
  const [old, young] = [before.snapshot(), after.snapshot()]
  const inodes = [...home.listChangedInodes(old, young)]
  const files = new VaultFiles(after)
  const names = inodes.flatMap((ino) => listFileNames(files, ino))
  return { names: [...home.listChangedNames(old, young), ...names], inodes }
}

/** The names of a file; none of anything else. */
function listFileNames(files: VaultFiles, ino: number): NameChange[] {
  const inode = files.findInode(ino)
  return inode?.type === 'file' ? listDentries(files, ino, inode) : []
}

/** The last row there is, and whether anybody else did any of those behind a row; also if some were forgotten. */
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
