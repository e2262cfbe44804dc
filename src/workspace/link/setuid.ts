import type { TreeChange } from './compare-trees.ts'
import { isSameEntry } from './entry.ts'

/** The bits that let a program run with the rights of its owner or group. */
const SETUID_SETGID = 0o6000

/** Changes that give no file setuid or setgid; what is nothing without them is left out. Directories keep theirs. */
export function dropSetuid(changes: readonly TreeChange[]): TreeChange[] {
  return changes.flatMap((change) => {
    const { before, after } = change
    if (after?.type !== 'file' || (after.mode & SETUID_SETGID) === 0) return [change]
    const plain = { ...after, mode: after.mode & ~SETUID_SETGID }
    return isSameEntry(before, plain) ? [] : [{ ...change, after: plain }]
  })
}
