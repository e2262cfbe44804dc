import {
  Files,
  type NameChange,
  namesOf,
  type StoreHome,
  type Tree,
  type TreeValue,
  type VaultLog,
} from '../../store/index.ts'
import { CommitBell } from './commit-bell.ts'

export interface ForeignOptions {
  /** The trace of whoever wants to hear of nobody's changes but others'. */
  readonly trace: string
  readonly signal: AbortSignal
  /** Called once it looks: what changes from then on is told. */
  readonly onReady?: () => void
}

/** What is not as it was: names that lead elsewhere or to a changed file, and inodes of which anything differs. */
export interface InodeNews {
  readonly names: readonly NameChange[]
  readonly inodes: readonly number[]
}

/**
 * What others change in a vault, for whoever remembers names and inodes of it, until the signal says stop. It may tell
 * of too much, namely own changes of the same moment, but never of too little.
 */
export async function* foreignChanges(
  home: StoreHome,
  log: VaultLog,
  { trace, signal, onReady }: ForeignOptions,
): AsyncGenerator<InodeNews> {
  const { reader } = home
  const look = async () => {
    await home.session.enter()
    return reader.resolve(() => {
      const tree = log.read().tree.fork()
      return { seq: log.seq, tree, hold: home.session.hold(tree) }
    })
  }
  const bell = new CommitBell(log, signal)
  try {
    let seen = await look()
    /** Up to here it is known who did what. Own changes are only taken in when all is quiet, or together with others'. */
    let checked = seen.seq
    onReady?.()
    while (!signal.aborted) {
      await bell.rung()
      const rows = await reader.resolve(() => rowsAfter(log, checked, trace))
      const isQuiet = rows.last === checked
      if (isQuiet ? seen.seq === checked : !rows.isForeign) {
        checked = rows.last
        continue
      }
      const [before, known] = [seen, checked]
      seen = await look()
      checked = seen.seq
      const isNews = rows.isForeign || (await reader.resolve(() => rowsAfter(log, known, trace))).isForeign
      if (isNews) yield await reader.resolve(() => newsBetween(home, before.tree, seen.tree))
      before.hold.release()
    }
  } finally {
    bell.hangUp()
  }
}

function newsBetween(home: StoreHome, before: Tree<TreeValue>, after: Tree<TreeValue>): InodeNews {
  const [old, young] = [before.snapshot(), after.snapshot()]
  const inodes = [...home.touched(old, young)]
  const files = new Files(after)
  const names = inodes.flatMap((ino) => fileNames(files, ino))
  return { names: [...home.touchedNames(old, young), ...names], inodes }
}

/** The names of a file; none of anything else. */
function fileNames(files: Files, ino: number): NameChange[] {
  const inode = files.inodeIfPresent(ino)
  return inode?.type === 'file' ? namesOf(files, ino, inode) : []
}

/** The last row there is, and whether anybody else did any of those behind a row; also if some were forgotten. */
function rowsAfter(
  log: VaultLog,
  since: number,
  trace: string,
): { readonly last: number; readonly isForeign: boolean } {
  let last = since
  let isForeign = false
  for (;;) {
    const entries = log.journal.after(last)
    const end = entries.at(-1)
    if (end === undefined) return { last, isForeign }
    isForeign ||= entries[0]?.seq !== last + 1 || entries.some((entry) => entry.trace !== trace)
    last = end.seq
  }
}
