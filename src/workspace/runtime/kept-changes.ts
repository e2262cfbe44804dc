import type { SessionChange } from '../session/index.ts'
import type { ExecutionWorkspace } from './execution-workspace.ts'

/** Filters out changes that cannot be kept, with everything below them. */
export function filterKept(all: readonly SessionChange[], workspace: ExecutionWorkspace): SessionChange[] {
  let leftOut: string | undefined
  return all.filter((change) => {
    if (leftOut !== undefined && change.path.startsWith(`${leftOut}/`)) return false
    if (workspace.canKeep?.(change) !== false) return true
    leftOut = change.path
    return false
  })
}

/** Lists the paths of changes that are left out: those that are not kept, and pipes, sockets and devices. */
export function listLeftOut(all: readonly SessionChange[], kept: readonly SessionChange[]): string[] {
  const keptSet = new Set(kept)
  const isLeftOut = (change: SessionChange) =>
    !keptSet.has(change) || (change.kind === 'put' && change.type === 'other')
  return all.filter(isLeftOut).map(({ path }) => path)
}
