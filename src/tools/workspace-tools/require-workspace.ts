import { type CallContext, VfsError } from '../../vfs/index.ts'
import type { ToolEnvironment } from '../tool-environment.ts'
import type { Workspace } from '../workspace.ts'

/** The workspace of a bench whose registry offers tools for it. */
export function requireWorkspace({ workspace }: ToolEnvironment): Workspace {
  if (workspace !== undefined) return workspace
  throw new VfsError('ENOTSUP', '/workspace', { op: 'workspace', detail: 'there is no workspace here' })
}

/** As `workspaceOf`, for a caller who may change it. EACCES, EROFS as the namespace decides. */
export async function requireWritableWorkspace(bench: ToolEnvironment, ctx: CallContext): Promise<Workspace> {
  const workspace = requireWorkspace(bench)
  // A workspace is not behind the guard. This changes nothing, and the guard judges it as a change.
  await bench.fs.mkdir(workspace.path, { parents: true }, ctx)
  return workspace
}
