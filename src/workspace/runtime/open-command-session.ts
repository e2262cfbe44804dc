import { VfsError } from '../../vfs/index.ts'
import { type IsolationPlan, probeLandlock } from '../isolation/index.ts'
import type { ExecutionRequest } from '../policy/index.ts'
import { type CommandSession, joinSession, openSession } from '../session/index.ts'
import type { ExecuteOptions } from './execute-options.ts'
import type { Baseline, ExecutionWorkspace } from './execution-workspace.ts'
import { listRepositoryPaths } from './linked-worktree.ts'
import { MaskedSession } from './masked-session.ts'
import { formatVaultScope, SessionMask } from './session-mask.ts'

/** Opens the session of a request, masked if the options say so. Throws ENOTSUP where files cannot be masked. */
export async function openCommandSession(
  request: ExecutionRequest,
  { directory: scope }: ExecutionWorkspace,
  base: Baseline['session'],
  options: ExecuteOptions,
): Promise<CommandSession> {
  const { mask, sessions, join } = options
  // The session that is joined has been masked or not.
  if (mask === undefined || join !== undefined) return openPlainSession(request, base, options)
  if ('vault' in base) throw createNoMaskError(request)
  const sessionMask = await SessionMask.create(mask, scope ?? formatVaultScope(request.vault), base)
  const session = await openPlainSession(request, sessionMask.coverBase(base), options)
  // A vault has the real values itself. The fork of a directory never has them.
  return new MaskedSession(session, sessionMask, scope === undefined ? sessions : undefined)
}

function openPlainSession(
  request: ExecutionRequest,
  base: Baseline['session'],
  options: ExecuteOptions,
): Promise<CommandSession> {
  const { signal, sessions: directory, join } = options
  if (join !== undefined) return joinSession(join, { directory })
  const isolation = createIsolation(request, options)
  // Probes the remaining isolation meanwhile.
  if (request.isolation !== 'none') probeLandlock().catch(() => undefined)
  return openSession(request.session, base, {
    directory,
    isolation,
    ...(signal !== undefined && { signal }),
  })
}

/** Returns how the command of a request is isolated, except for its network. */
export function createIsolation(
  { isolation: level, vault }: ExecutionRequest,
  { userHome, hidden = [], visible = [], sockets, copies }: ExecuteOptions,
): Omit<IsolationPlan, 'network'> {
  const plan = { level, hidden, ...(userHome !== undefined && { userHome }) }
  return {
    ...plan,
    visible: [...listRepositoryPaths(vault, plan), ...visible],
    ...(sockets !== undefined && { sockets }),
    ...(copies !== undefined && { copies }),
  }
}

function createNoMaskError({ vault }: ExecutionRequest): VfsError {
  const detail =
    "a session of kind 'fuse' cannot mask files; use one of kind 'overlay' or 'dir', or --no-mask"
  return new VfsError('ENOTSUP', vault, { op: 'exec', detail })
}
