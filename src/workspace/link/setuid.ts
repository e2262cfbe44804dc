import { SPECIAL_BITS } from '../../vfs/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { isSameEntry } from './link-entry.ts'

/** Changes that give no file setuid or setgid; what is nothing without them is left out. Directories keep theirs. */
export function dropSetuid(changes: readonly TreeChange[]): TreeChange[] {
  return changes.flatMap((change) => {
    const { before, after } = change
    if (after?.type !== 'file' || (after.mode & SPECIAL_BITS) === 0) return [change]
    const plain = { ...after, mode: after.mode & ~SPECIAL_BITS }
    return isSameEntry(before, plain) ? [] : [{ ...change, after: plain }]
  })
}
