import { constants } from 'node:os'
import { DirectoryError } from '../../machine/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'

/** What the caller asked for. Every error names this, whatever path of the machine failed underneath. */
export interface HostCall {
  readonly op: string
  readonly path: string
}

/** A failure found here rather than by the system, before it is known which path the caller asked for. */
export class HostFsFault extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined

  constructor(code: ErrorCode, detail?: string) {
    super(detail ?? code)
    this.code = code
    this.detail = detail
  }
}

interface ErrorMeaning {
  readonly code: ErrorCode
  readonly detail?: string
}

const TOO_MANY_FILES: ErrorMeaning = { code: 'EUNAVAILABLE', detail: 'too many open files' }
const UNSUPPORTED: ErrorMeaning = { code: 'ENOTSUP' }

/** System errors that go by another name in the protocol; those it knows too keep theirs. */
const MEANINGS: ReadonlyMap<string, ErrorMeaning> = new Map([
  ['EPERM', { code: 'EACCES' }],
  ['ENAMETOOLONG', { code: 'EINVAL', detail: 'the name is too long' }],
  ['ERR_INVALID_ARG_VALUE', { code: 'EINVAL' }],
  ['EDQUOT', { code: 'ENOSPC', detail: 'the disk quota is used up' }],
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

const SAME_NAME: ReadonlySet<string> = new Set([
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

/** Any failure as the protocol's error; an unknown one is EIO with its cause. */
export function hostError(error: unknown, { op, path }: HostCall): VfsError {
  if (isVfsError(error)) return error
  if (error instanceof HostFsFault || error instanceof DirectoryError) {
    return new VfsError(error.code, path, { op, ...(error.detail !== undefined && { detail: error.detail }) })
  }
  const errno = getErrno(error)
  const meaning = MEANINGS.get(errno) ?? { code: isSameName(errno) ? errno : 'EIO' }
  return new VfsError(meaning.code, path, { op, cause: error, ...meaning })
}

/** Runs a step of an operation; what fails in it becomes the operation's error. */
export function attempt<T>(asked: HostCall, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw hostError(error, asked)
  }
}

/** As `attempt`, for a step that takes time. If the signal ended it, the error is the signal's reason. */
export async function attemptAsync<T>(
  asked: HostCall,
  step: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw signal?.aborted && error === signal.reason ? error : hostError(error, asked)
  }
}

function getErrno(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Node has no name for this one.
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return 'EDQUOT'
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function isSameName(errno: string): errno is ErrorCode {
  return SAME_NAME.has(errno)
}
