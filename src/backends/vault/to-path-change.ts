import { type FileChange, toStat } from '../../store/index.ts'
import type { PathChange } from '../../vfs/index.ts'

export function toPathChange({ kind, path, from, before, after }: FileChange): PathChange {
  return {
    kind,
    path,
    ...(from !== undefined && { from }),
    ...(before !== undefined && { before: toStat(before) }),
    ...(after !== undefined && { after: toStat(after) }),
  }
}
