import { type ErrorCode, isVfsError } from '../../vfs/index.ts'

/** C error numbers as Emscripten has them, which are WASI's. */
const errnoByCode: Readonly<Record<ErrorCode, number>> = {
  ENOENT: 44,
  EEXIST: 20,
  EISDIR: 31,
  ENOTDIR: 54,
  EROFS: 69,
  EACCES: 2,
  EPERM: 63,
  EINVAL: 28,
  EXDEV: 75,
  EIO: 29,
  ELOOP: 32,
  ENOTSUP: 138,
  ENOTEMPTY: 55,
  ENAMETOOLONG: 37,
  ENODATA: 116,
  EFBIG: 22,
  ENOSPC: 51,
  ETIMEDOUT: 73,
  EPIPE: 64,
  EBADF: 8,
  // ESTALE, as in a network file system.
  ECONFLICT: 72,
  // EAGAIN
  EUNAVAILABLE: 6,
  EUNKNOWN: 29,
  EINTERNAL: 29,
}
const EINTR = 27

/** Returns the error number of a code. */
export function getErrno(code: ErrorCode): number {
  return errnoByCode[code]
}

/** Returns the code of an error number of the runtime; EIO for a number without a code. */
export function toErrorCode(errno: number): ErrorCode {
  for (const code in errnoByCode) if (isErrorCode(code) && errnoByCode[code] === errno) return code
  return 'EIO'
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errnoByCode, code)
}

/** Converts an error. An abort is EINTR, after which Python checks for signals; a foreign error is EIO. */
export function toErrno(error: unknown): number {
  if (isVfsError(error)) return errnoByCode[error.code]
  return error instanceof Error && error.name === 'AbortError' ? EINTR : errnoByCode.EIO
}
