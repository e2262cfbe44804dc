import { VfsError } from '../../vfs/index.ts'

/** Explanations of system errors for the user who applies changes. */
const REASONS = {
  ENOSPC: () => 'there is no room left on its disk',
  EROFS: () => 'its disk is read-only',
  EACCES: (path: string) => `you may not change ${path}`,
  EPERM: (path: string) => `you may not change ${path}`,
  EXDEV: (path: string) =>
    `${path} is on another disk, which is mounted there; what is in it cannot be changed from here`,
} as const

/** The failure to write changes into a directory after which it is again as it was. */
export function createWriteError(directory: string, stage: string | undefined, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = findKnownCode(error.code)
  const named = 'path' in error ? String(error.path) : directory
  // The stage is nobody's path, however it was reached: it is the directory then that nothing can be made in.
  const isStage = named.startsWith('/proc/self/fd/') || (stage !== undefined && named.includes(stage))
  const path = isStage ? directory : named
  const reason = code === undefined ? error.message : REASONS[code](path)
  const detail = `nothing was written to ${directory}: ${reason}`
  return new VfsError(code ?? 'EIO', directory, { op: 'apply', detail, cause: error })
}

/** The failure to take back changes of which some could not be written. */
export function createRevertError(directory: string, error: unknown): VfsError {
  const reason = error instanceof Error ? error.message : String(error)
  const detail = `some changes are in ${directory}, and could not be taken back: ${reason}; the next coppice command there tries again`
  return new VfsError('EIO', directory, { op: 'apply', detail, cause: error })
}

function findKnownCode(code: unknown): keyof typeof REASONS | undefined {
  return Object.keys(REASONS).find((known): known is keyof typeof REASONS => known === code)
}
