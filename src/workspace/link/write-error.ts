import { VfsError } from '../../vfs/index.ts'

/** Explanations of system errors for the user who applies changes. */
const REASONS = {
  ENOSPC: () => 'there is no room left on its disk',
  EROFS: () => 'its disk is read-only',
  EACCES: (path: string) => `you may not change ${path}`,
  EPERM: (path: string) => `you may not change ${path}`,
  EXDEV: (path: string) =>
    `${path} is a mount point; coppice cannot change files on a disk that is mounted inside the directory`,
} as const

/**
 * Creates the error of a failed write after which the directory is unchanged. Returns an error without a code as it is.
 */
export function createWriteError(directory: string, stage: string | undefined, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = findKnownCode(error.code)
  const errorPath = 'path' in error ? String(error.path) : directory
  // The stage is internal, so an error in it is reported for the directory.
  const isStage = errorPath.startsWith('/proc/self/fd/') || (stage !== undefined && errorPath.includes(stage))
  const path = isStage ? directory : errorPath
  const reason = code === undefined ? error.message : REASONS[code](path)
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
