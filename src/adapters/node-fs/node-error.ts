import { constants } from 'node:os'
import { getSystemErrorMessage } from 'node:util'
import { type ErrorCode, isVfsError } from '../../vfs/index.ts'

/** What was asked for, as Node's errors tell it: the call and its paths as the caller gave them. */
export interface SyscallInfo {
  readonly syscall: string
  readonly path?: string
  readonly dest?: string
}

/** Codes Node does not know, as the nearest it does; the original is the `cause`. */
const NODE_CODES: Partial<Record<ErrorCode, NodeCode>> = {
  ECONFLICT: 'ESTALE',
  EUNAVAILABLE: 'EAGAIN',
  EUNKNOWN: 'EIO',
  EINTERNAL: 'EIO',
}

type NodeCode = keyof typeof constants.errno

/** Where the code says it all: what else a file system has to say about these is in the `cause` only. */
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

/** An error of Node: `ENOENT: no such file or directory, open '/x'`, with `errno`, `code`, `syscall`, `path` and `dest`. */
export function createNodeError(code: string, asked: SyscallInfo, cause?: unknown): NodeJS.ErrnoException {
  const errno = -getErrno(code)
  const { syscall, path, dest } = asked
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

/** A failure of a file system as Node would tell it. Everything that is none of those is left as it is. */
export function toNodeError(error: unknown, asked: SyscallInfo): unknown {
  if (!isVfsError(error)) return error
  const code = NODE_CODES[error.code] ?? error.code
  return createNodeError(code, asked, error)
}

/** The code of a failure, whichever of the two kinds it is. */
export function getErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function formatReason(cause: unknown): string {
  if (!isVfsError(cause) || cause.detail === undefined || SELF_EXPLANATORY_CODES.has(cause.code)) return ''
  return ` (${cause.detail})`
}

/** The system's words, but for one that speaks of sockets only. */
function getErrorText(code: string, errno: number): string {
  return code === 'ENOTSUP' ? 'operation not supported' : (getSystemErrorMessage(errno) ?? 'unknown error')
}

function getErrno(code: string): number {
  return isNodeCode(code) ? constants.errno[code] : constants.errno.EIO
}

function isNodeCode(code: string): code is NodeCode {
  return Object.hasOwn(constants.errno, code)
}

/** A wrong argument, which Node throws at once and never gives to a callback. */
export class ArgumentError extends TypeError {
  readonly code: 'ERR_INVALID_ARG_TYPE' | 'ERR_INVALID_ARG_VALUE'

  constructor(code: ArgumentError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** An error of Node's own checks, such as those of `cp` and `rm`. */
export function createCheckError(code: string, message: string, asked: SyscallInfo): Error {
  return Object.assign(new Error(message), { code, ...asked })
}

/** A synchronous call on a file system whose answers come later. */
export function createNotSyncError(syscall: string, path?: string): Error {
  const error = createNodeError('ENOTSUP', { syscall, ...(path !== undefined && { path }) })
  error.message += ' (this file system cannot answer at once: use promises or callbacks)'
  return error
}

/** An error with a code of Node's own, such as `ERR_INVALID_STATE`. */
export function createCodedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** What an aborted call fails with. */
export function createAbortError(cause: unknown): Error {
  const error = new Error('The operation was aborted', { cause })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
