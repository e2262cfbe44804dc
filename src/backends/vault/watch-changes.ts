import { setTimeout as delay } from 'node:timers/promises'
import { chain, type FileChange, type StoreHome, type VaultLog } from '../../store/index.ts'
import { isWithin } from '../../vfs/index.ts'
import { CommitSignal } from './commit-signal.ts'

/** A few changes are told one by one; in a burst it rests between looks, so as not to slow down who writes. */
const BURST_CHANGES = 10
const BURST_PAUSE_MS = 10

/** What changes in a vault at or below a path, by whichever process, from its first step on until the signal says stop. */
export async function* watchChanges(
  home: StoreHome,
  log: VaultLog,
  top: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileChange> {
  const { reader } = home
  /** The tree in memory as it is: nothing has to be stored for somebody who only looks on. */
  const readState = () => {
    const entered = home.session.beginRead()
    // At once where nobody has to wait: a change right after the call is one to be seen.
    return chain(entered, () =>
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
  let seen = await readState()
  /** How often it found something since all was quiet. */
  let looks = 0
  const bell = new CommitSignal(log, signal)
  try {
    for (;;) {
      signal?.throwIfAborted()
      if ((await reader.run(readSeq)) === seen.seq) {
        if (!(await bell.next())) looks = 0
        continue
      }
      const now = await readState()
      const [before, after] = [seen.tree.snapshot(), now.tree.snapshot()]
      for (const change of await reader.run(() => home.diff(before, after))) {
        if (isWithin(change.path, top) || isWithin(change.from ?? change.path, top)) yield change
      }
      seen.hold.release()
      seen = now
      if (++looks > BURST_CHANGES) await delay(BURST_PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    seen.hold.release()
    bell.close()
  }
}
