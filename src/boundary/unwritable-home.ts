import { dirname } from 'node:path'
import { isErrno } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'

/** Creates the error for a command in a home whose disk is read-only. */
export function createReadOnlyHomeError(home: string, cause?: unknown): VfsError {
  const detail = `the home ${home} cannot be written; copy it to a place that you can write, and name that as the home`
  return new VfsError('EROFS', home, { op: 'exec', detail, cause })
}

/** Creates the error for a command in a home in a database whose role may only read. */
export function createReadOnlyRoleError(home: string): VfsError {
  const detail =
    "the role of this home's database may only read; run commands with a role that may write, or name another home with --home"
  return new VfsError('EROFS', home, { op: 'exec', detail })
}

/** Names the home in a system error about writing one of its files; returns any other error as it is. */
export function toUnwritableHomeError(home: string, error: unknown): unknown {
  const path = findFailedPath(error)
  if (path === undefined || !path.startsWith(`${home}/`)) return error
  if (isErrno(error, 'EROFS')) return createReadOnlyHomeError(home, error)
  if (!isErrno(error, 'EACCES', 'EPERM')) return error
  const detail = `the home ${home} cannot be written: permission denied in ${dirname(path)}; make it writable, or name another home`
  return new VfsError('EACCES', home, { op: 'exec', detail, cause: error })
}

/** Returns the path of a system error. */
function findFailedPath(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error)) return undefined
  return typeof error.path === 'string' ? error.path : undefined
}
