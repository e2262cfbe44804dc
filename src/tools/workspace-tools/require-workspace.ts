import { type CallContext, VfsError } from '../../vfs/index.ts'
import type { ToolEnvironment } from '../tool-environment.ts'
import type { Workspace } from '../workspace.ts'

/** Returns the workspace of an environment. ENOTSUP if it has none. */
export function requireWorkspace({ workspace }: ToolEnvironment): Workspace {
  if (workspace !== undefined) return workspace
  throw new VfsError('ENOTSUP', '/workspace', { op: 'workspace', detail: 'this namespace has no workspace' })
}

/** Like `requireWorkspace`, for a caller that changes it. EACCES, EROFS as the namespace decides. */
export async function requireWritableWorkspace(
  environment: ToolEnvironment,
  ctx: CallContext,
): Promise<Workspace> {
  const workspace = requireWorkspace(environment)
  // Workspace operations bypass the guard. This mkdir changes nothing, but makes the guard check write access.
  await environment.fs.mkdir(workspace.path, { parents: true }, ctx)
  return workspace
}
