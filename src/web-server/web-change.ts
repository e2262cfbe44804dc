import { formatModes } from '../diff/index.ts'
import type { PathChange } from '../vfs/index.ts'
import type { WebChange } from '../web-api/index.ts'

export function toWebChange(change: PathChange): WebChange {
  const { path, kind, from, before, after } = change
  return {
    path,
    kind,
    type: (after ?? before)?.type ?? 'other',
    ...(from !== undefined && { from }),
    modes: formatModes(change),
    oldSize: before?.size ?? 0,
    newSize: after?.size ?? 0,
    lines: null,
    isBinary: null,
  }
}
