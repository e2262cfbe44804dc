import { setTimeout as delay } from 'node:timers/promises'
import type { FileChange, StoreHome, VaultLog } from '../../store/index.ts'
import { isWithin } from '../../vfs/index.ts'
import { CommitBell } from './commit-bell.ts'

/** A few changes are told one by one; in a burst it rests between looks, so as not to slow down who writes. */
const BURST = 10
const REST_MS = 10

/** What changes in a vault at or below a path, by whichever process, from its first step on until the signal says stop. */
export async function* changesBelow(
  home: StoreHome,
  log: VaultLog,
  top: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileChange> {
  const { reader } = home
  /** The tree in memory as it is: nothing has to be stored for somebody who only looks on. */
  const look = () => {
    const tree = log.read().tree.fork()
    return { seq: log.seq, tree }
  }
  let seen = await reader.resolve(look)
  // No record names what was seen last: a garbage collection has to be told.
  seen.tree.hold()
  /** How often it found something since all was quiet. */
  let looks = 0
  const bell = new CommitBell(log, signal)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const now = await reader.resolve(look)
      if (now.seq === seen.seq) {
        if (!(await bell.rung())) looks = 0
        continue
      }
      now.tree.hold()
      const [before, after] = [seen.tree.snapshot(), now.tree.snapshot()]
      for (const change of await reader.resolve(() => home.diff(before, after))) {
        if (isWithin(change.path, top) || isWithin(change.from ?? change.path, top)) yield change
      }
      seen = now
      if (++looks > BURST) await delay(REST_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    bell.hangUp()
  }
}
