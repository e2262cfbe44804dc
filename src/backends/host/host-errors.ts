import { constants } from 'node:os'
import { DirectoryError } from '../../machine/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'

/** The operation and path of the caller. Every error reports these, whatever path of the machine failed. */
export interface HostCall {
  readonly op: string
  readonly path: string
}

/** An error found here rather than by the system, before the caller's path is known. */
export class HostFsFault extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined

  constructor(code: ErrorCode, detail?: string) {
    super(detail ?? code)
    this.code = code
    this.detail = detail
  }
}

interface ErrorTranslation {
  readonly code: ErrorCode
  readonly detail?: string
}

const TOO_MANY_FILES: ErrorTranslation = {
  code: 'EUNAVAILABLE',
  detail: 'too many open files; close some or raise the limit (ulimit -n)',
}
const UNSUPPORTED: ErrorTranslation = { code: 'ENOTSUP' }

/** System errors with another code in the protocol. The others keep theirs. */
const TRANSLATIONS: ReadonlyMap<string, ErrorTranslation> = new Map([
  ['EPERM', { code: 'EACCES' }],
  ['ENAMETOOLONG', { code: 'EINVAL', detail: 'the name is too long; use a shorter one' }],
  ['ERR_INVALID_ARG_VALUE', { code: 'EINVAL' }],
  ['EDQUOT', { code: 'ENOSPC', detail: 'the disk quota is exceeded; remove files or raise the quota' }],
  ['EMFILE', TOO_MANY_FILES],
  ['ENFILE', TOO_MANY_FILES],
  ['EBUSY', { code: 'EUNAVAILABLE' }],
  ['EAGAIN', { code: 'EUNAVAILABLE' }],
  ['ENOMEM', { code: 'EUNAVAILABLE' }],
  ['ETXTBSY', { code: 'EUNAVAILABLE' }],
  ['ENXIO', UNSUPPORTED],
  ['ENOSYS', UNSUPPORTED],
  ['EOPNOTSUPP', UNSUPPORTED],
])

const SHARED_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'EEXIST',
  'EISDIR',
  'ENOTDIR',
  'EROFS',
  'EACCES',
  'EINVAL',
  'EXDEV',
  'ELOOP',
  'ENOTSUP',
  'ENOTEMPTY',
  'ENOSPC',
  'ETIMEDOUT',
  'EBADF',
] satisfies ErrorCode[])

/** Converts any error to a `VfsError`; an unknown one to EIO with its cause. */
export function hostError(error: unknown, { op, path }: HostCall): VfsError {
  if (isVfsError(error)) return error
  if (error instanceof HostFsFault || error instanceof DirectoryError) {
    return new VfsError(error.code, path, { op, ...(error.detail !== undefined && { detail: error.detail }) })
  }
  const errno = getErrno(error)
  const translation = TRANSLATIONS.get(errno) ?? { code: isSharedCode(errno) ? errno : 'EIO' }
  return new VfsError(translation.code, path, { op, cause: error, ...translation })
}

/** Runs a step and converts its errors to those of the operation. */
export function attempt<T>(call: HostCall, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw hostError(error, call)
  }
}

/** The asynchronous form of `attempt`. After an abort it rethrows the signal's reason. */
export async function attemptAsync<T>(
  call: HostCall,
  step: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw signal?.aborted && error === signal.reason ? error : hostError(error, call)
  }
}

function getErrno(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Node has no name for this errno.
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return 'EDQUOT'
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function isSharedCode(errno: string): errno is ErrorCode {
  return SHARED_CODES.has(errno)
}
