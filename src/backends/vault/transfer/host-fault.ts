import { type ErrorCode, errorCodes, VfsError } from '../../../vfs/index.ts'

/** System errors with another code in the protocol. The others keep theirs. */
const CODES_BY_ERRNO: ReadonlyMap<string, ErrorCode> = new Map([
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

/** A problem on the machine: an import skips the entry, an export fails. The message is for the user. */
export class HostFault extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Converts a system error at a path to a `VfsError`. Returns other errors unchanged. */
export function hostError(error: unknown, path: string, op: string): unknown {
  if (error instanceof HostFault) return new VfsError(error.code, path, { op, detail: error.message })
  const errno = findErrno(error)
  if (errno === undefined) return error
  const code = toErrorCode(errno)
  return new VfsError(code, path, { op, cause: error, detail: formatReason(error).replace(`${code}: `, '') })
}

/** Returns why an entry could not be read, or undefined if the error is not the machine's. */
export function findSkipReason(error: unknown): string | undefined {
  if (error instanceof HostFault) return error.message
  const errno = findErrno(error)
  // Running out of descriptors or memory must fail the import, not skip the entry.
  if (errno === undefined || toErrorCode(errno) === 'EUNAVAILABLE') return undefined
  return formatReason(error)
}

function findErrno(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return 'syscall' in error ? error.code : undefined
}

function toErrorCode(errno: string): ErrorCode {
  return CODES_BY_ERRNO.get(errno) ?? (isErrorCode(errno) ? errno : 'EIO')
}

function isErrorCode(errno: string): errno is ErrorCode {
  return Object.hasOwn(errorCodes, errno)
}

/** Formats a system error as `EACCES: permission denied`, without the call and the path of `/proc` that Node adds. */
function formatReason(error: unknown): string {
  return error instanceof Error ? (error.message.split(', ')[0] ?? error.message) : String(error)
}
