import { accessSync, constants, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { VfsError } from '../../vfs/index.ts'

/** Explanations of system errors for the user who applies changes. */
const REASONS = {
  ENOSPC: () => 'there is no room left on its disk',
  EROFS: () => 'its disk is read-only',
  EACCES: explainDenial,
  EPERM: explainDenial,
  EXDEV: (path: string) =>
    `${path} is a mount point; coppice cannot change files on a disk that is mounted inside the directory`,
} as const

/**
 * Creates the error of a failed write after which the directory is unchanged. Returns an error without a code as it is.
 *
 * @param stage name of the hidden directory in which the write prepared its files.
 */
export function createWriteError(directory: string, stage: string | undefined, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = findKnownCode(error.code)
  const errorPath = 'path' in error ? String(error.path) : directory
  // The user does not know the stage: an error in it is reported for the directory.
  const isStage = errorPath.startsWith('/proc/self/fd/') || (stage !== undefined && errorPath.includes(stage))
  const path = isStage ? directory : errorPath
  const reason = code === undefined ? error.message : REASONS[code](path, directory)
  const detail = `nothing was written to ${directory}: ${reason}`
  return new VfsError(code ?? 'EIO', directory, { op: 'apply', detail, cause: error })
}

/** Creates the error of a failed write that could not be reverted completely. */
export function createRevertError(directory: string, error: unknown): VfsError {
  const reason = error instanceof Error ? error.message : String(error)
  const detail = `some changes stay in ${directory} and could not be undone: ${reason}; the next coppice command there retries`
  return new VfsError('EIO', directory, { op: 'apply', detail, cause: error })
}

function findKnownCode(code: unknown): keyof typeof REASONS | undefined {
  return Object.keys(REASONS).find((known): known is keyof typeof REASONS => known === code)
}

/** Explains why this user may not change a path in a directory, and how to get the permission. */
function explainDenial(path: string, directory: string): string {
  const denial = `you may not change ${path}`
  const user = process.geteuid?.()
  if (user === undefined) return denial
  const isInside = path.startsWith(directory) && path.length > directory.length + 1
  // The permission to add or remove a name is that of the directory above it.
  const above = isInside ? dirname(path) : path
  const isAboveClosed = !isWritable(above)
  if (isAboveClosed && findOwner(above) === user) return `${denial}; run chmod u+w '${above}' and try again`
  const cause = isAboveClosed ? above : path
  const owner = findOwner(cause)
  if (owner === undefined || owner === user) return denial
  const name = owner === 0 ? 'root' : `user ${owner}`
  return `${denial}: ${cause} belongs to ${name}; take it over with sudo chown ${user} '${cause}', or have ${name} run this command`
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function findOwner(path: string): number | undefined {
  try {
    return lstatSync(path).uid
  } catch {
    return undefined
  }
}
