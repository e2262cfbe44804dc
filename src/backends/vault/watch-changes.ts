import { setTimeout as delay } from 'node:timers/promises'
import { chain, type FileChange, type StoreHome, type VaultLog } from '../../store/index.ts'
import { isWithin } from '../../vfs/index.ts'
import { CommitSignal } from './commit-signal.ts'

/** After this many changes without a pause, the watcher rests between reads, so that it does not slow down writers. */
const BURST_CHANGES = 10
const BURST_PAUSE_MS = 10

/** Yields the changes at or below a path, by any process. Throws the reason of the signal once it aborts. */
export async function* watchChanges(
  home: StoreHome,
  log: VaultLog,
  top: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileChange> {
  const { reader } = home
  /** Reads the tree in memory, so that watching stores nothing. */
  const readState = () => {
    const started = home.session.beginRead()
    // Synchronous on a local engine, so that a change right after the call is seen.
    return chain(started, () =>
      reader.run(() => {
        const tree = log.readFiles().tree.fork()
        return { seq: log.seq, tree, hold: home.session.hold(tree) }
      }),
    )
  }
  const readSeq = () => {
    log.readFiles()
    return log.seq
  }
  let last = await readState()
  /** Number of changes found since the last pause. */
  let burst = 0
  const commits = new CommitSignal(log, signal)
  try {
    for (;;) {
      signal?.throwIfAborted()
      if ((await reader.run(readSeq)) === last.seq) {
        if (!(await commits.next())) burst = 0
        continue
      }
      const state = await readState()
      const [before, after] = [last.tree.snapshot(), state.tree.snapshot()]
      for (const change of await reader.run(() => home.trees.diff(before, after))) {
        if (isWithin(change.path, top) || isWithin(change.from ?? change.path, top)) yield change
      }
      last.hold.release()
      last = state
      if (++burst > BURST_CHANGES) await delay(BURST_PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    last.hold.release()
    commits.close()
  }
}
