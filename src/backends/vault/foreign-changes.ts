import { Files, type NameChange, namesOf, type StoreHome, type VaultLog } from '../../store/index.ts'
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
  const look = () => {
    const tree = log.read().tree.fork()
    return { seq: log.seq, tree }
  }
  const bell = new CommitBell(log, signal)
  try {
    let seen = await reader.resolve(look)
    // No record names what was seen last: a garbage collection has to be told.
    seen.tree.hold()
    onReady?.()
    while (!signal.aborted) {
      await bell.rung()
      const now = await reader.resolve(look)
      if (now.seq === seen.seq) continue
      now.tree.hold()
      const before = seen
      seen = now
      if (!(await reader.resolve(() => isForeign(log, before.seq, trace)))) continue
      const [old, young] = [before.tree.snapshot(), now.tree.snapshot()]
      yield await reader.resolve(() => {
        const inodes = [...home.touched(old, young)]
        const files = new Files(now.tree)
        const names = inodes.flatMap((ino) => fileNames(files, ino))
        return { names: [...home.touchedNames(old, young), ...names], inodes }
      })
    }
  } finally {
    bell.hangUp()
  }
}

/** The names of a file; none of anything else. */
function fileNames(files: Files, ino: number): NameChange[] {
  const inode = files.inodeIfPresent(ino)
  return inode?.type === 'file' ? namesOf(files, ino, inode) : []
}

/** Whether anybody else did any of what came after a row; also if that was forgotten meanwhile. */
function isForeign(log: VaultLog, since: number, trace: string): boolean {
  for (let at = since; at < log.seq; ) {
    const entries = log.journal.after(at)
    if (entries[0]?.seq !== at + 1 || entries.some((entry) => entry.trace !== trace)) return true
    at = entries.at(-1)?.seq ?? log.seq
  }
  return false
}
