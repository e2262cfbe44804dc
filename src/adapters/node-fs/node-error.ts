import { constants } from 'node:os'
import { getSystemErrorMessage } from 'node:util'
import { type ErrorCode, isVfsError } from '../../vfs/index.ts'

/** The failed call as Node's errors name it: the syscall and its paths as given. */
export interface SyscallInfo {
  readonly syscall: string
  readonly path?: string
  readonly dest?: string
}

/** Nearest Node code for codes Node does not know; the original is the `cause`. */
const NODE_CODES: Partial<Record<ErrorCode, NodeCode>> = {
  ECONFLICT: 'ESTALE',
  EUNAVAILABLE: 'EAGAIN',
  EUNKNOWN: 'EIO',
  EINTERNAL: 'EIO',
}

type NodeCode = keyof typeof constants.errno

/** Codes that need no detail: the file system's detail is only in the `cause`. */
const SELF_EXPLANATORY_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'EEXIST',
  'EISDIR',
  'ENOTDIR',
  'ENOTEMPTY',
  'EBADF',
  'EINVAL',
  'ELOOP',
])

/** Creates a Node error: `ENOENT: no such file or directory, open '/x'`, with `errno`, `code`, `syscall` and paths. */
export function createNodeError(code: string, call: SyscallInfo, cause?: unknown): NodeJS.ErrnoException {
  const errno = -getErrno(code)
  const { syscall, path, dest } = call
  const paths = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`
  const message = `${code}: ${getErrorText(code, errno)}, ${syscall}${paths}${formatReason(cause)}`
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), {
    errno,
    code,
    syscall,
    ...(path !== undefined && { path }),
    ...(dest !== undefined && { dest }),
  })
}

/** Converts a file-system error to Node's form; leaves other errors as they are. */
export function toNodeError(error: unknown, call: SyscallInfo): unknown {
  if (!isVfsError(error)) return error
  const code = NODE_CODES[error.code] ?? error.code
  return createNodeError(code, call, error)
}

/** Returns the code of an error of either kind. */
export function getErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function formatReason(cause: unknown): string {
  if (!isVfsError(cause) || cause.detail === undefined || SELF_EXPLANATORY_CODES.has(cause.code)) return ''
  return ` (${cause.detail})`
}

/** Returns the system's message, except for one that mentions sockets. */
function getErrorText(code: string, errno: number): string {
  return code === 'ENOTSUP' ? 'operation not supported' : (getSystemErrorMessage(errno) ?? 'unknown error')
}

function getErrno(code: string): number {
  return isNodeCode(code) ? constants.errno[code] : constants.errno.EIO
}

function isNodeCode(code: string): code is NodeCode {
  return Object.hasOwn(constants.errno, code)
}

/** An invalid argument, which Node throws at once and never passes to a callback. */
export class ArgumentError extends TypeError {
  readonly code: 'ERR_INVALID_ARG_TYPE' | 'ERR_INVALID_ARG_VALUE'

  constructor(code: ArgumentError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Creates an error of Node's own checks, such as those of `cp` and `rm`. */
export function createCheckError(code: string, message: string, call: SyscallInfo): Error {
  return Object.assign(new Error(message), { code, ...call })
}

/** Creates the error of a synchronous call on an asynchronous file system. */
export function createNotSyncError(syscall: string, path?: string): Error {
  const error = createNodeError('ENOTSUP', { syscall, ...(path !== undefined && { path }) })
  error.message += ' (this file system has no synchronous interface; use promises or callbacks)'
  return error
}

/** Creates an error with a code of Node's own, such as `ERR_INVALID_STATE`. */
export function createCodedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** Creates the error of an aborted call. */
export function createAbortError(cause: unknown): Error {
  const error = new Error('The operation was aborted', { cause })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
