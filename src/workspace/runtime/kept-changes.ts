import type { SessionChange } from '../session/index.ts'
import type { ExecutionWorkspace } from './execution-workspace.ts'

/** Filters out changes that cannot be kept, with everything below them. */
export function filterKept(all: readonly SessionChange[], workspace: ExecutionWorkspace): SessionChange[] {
  let left: string | undefined
  return all.filter((change) => {
    if (left !== undefined && change.path.startsWith(`${left}/`)) return false
    if (workspace.canKeep?.(change) !== false) return true
    left = change.path
    return false
  })
}

/** Lists the paths of changes that are left out: those that are not kept, and entries that are no files. */
export function listLeftOut(all: readonly SessionChange[], kept: readonly SessionChange[]): string[] {
  const keptSet = new Set(kept)
  const isLeft = (change: SessionChange) =>
    !keptSet.has(change) || (change.kind === 'put' && change.type === 'other')
  return all.filter(isLeft).map(({ path }) => path)
}
