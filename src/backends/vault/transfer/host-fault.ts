import { type ErrorCode, errorCodes, VfsError } from '../../../vfs/index.ts'

/** System errors that go by another name in the protocol; those it knows too keep theirs. */
const MEANINGS: ReadonlyMap<string, ErrorCode> = new Map([
  ['EPERM', 'EACCES'],
  ['ENAMETOOLONG', 'EINVAL'],
  ['EDQUOT', 'ENOSPC'],
  ['EFBIG', 'ENOSPC'],
  ['EMFILE', 'EUNAVAILABLE'],
  ['ENFILE', 'EUNAVAILABLE'],
  ['EBUSY', 'EUNAVAILABLE'],
  ['EAGAIN', 'EUNAVAILABLE'],
  ['ENOMEM', 'EUNAVAILABLE'],
])

/** Something on the machine that an import passes over and an export stumbles on, in words for the user. */
export class HostFault extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A failure of the system at a path of the machine, as the protocol's error. Others pass as they are. */
export function hostError(error: unknown, path: string, op: string): unknown {
  if (error instanceof HostFault) return new VfsError(error.code, path, { op, detail: error.message })
  const errno = findErrno(error)
  if (errno === undefined) return error
  return new VfsError(toErrorCode(errno), path, { op, cause: error, detail: formatReason(error) })
}

/** Why something of the machine could not be read, or undefined if the failure is not the machine's. */
export function findSkipReason(error: unknown): string | undefined {
  if (error instanceof HostFault) return error.message
  const errno = findErrno(error)
  // To run out of descriptors or memory is no reason to take less.
  if (errno === undefined || toErrorCode(errno) === 'EUNAVAILABLE') return undefined
  return formatReason(error)
}

function findErrno(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return 'syscall' in error ? error.code : undefined
}

function toErrorCode(errno: string): ErrorCode {
  return MEANINGS.get(errno) ?? (isErrorCode(errno) ? errno : 'EIO')
}

function isErrorCode(errno: string): errno is ErrorCode {
  return Object.hasOwn(errorCodes, errno)
}

/** `EACCES: permission denied`, without the call and the path of `/proc` that Node adds. */
function formatReason(error: unknown): string {
  return error instanceof Error ? (error.message.split(', ')[0] ?? error.message) : String(error)
}
