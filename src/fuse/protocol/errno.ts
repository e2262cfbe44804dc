import { constants } from 'node:os'
import { type ErrorCode, isVfsError } from '../../vfs/index.ts'

const { errno } = constants

/** Error numbers for our codes. */
const errnoByCode: Readonly<Record<ErrorCode, number>> = {
  ENOENT: errno.ENOENT,
  EEXIST: errno.EEXIST,
  EISDIR: errno.EISDIR,
  ENOTDIR: errno.ENOTDIR,
  EROFS: errno.EROFS,
  EACCES: errno.EACCES,
  EPERM: errno.EPERM,
  EINVAL: errno.EINVAL,
  EXDEV: errno.EXDEV,
  EIO: errno.EIO,
  ELOOP: errno.ELOOP,
  ENOTSUP: errno.EOPNOTSUPP,
  ENOTEMPTY: errno.ENOTEMPTY,
  ENAMETOOLONG: errno.ENAMETOOLONG,
  ENODATA: errno.ENODATA,
  EFBIG: errno.EFBIG,
  ENOSPC: errno.ENOSPC,
  ETIMEDOUT: errno.ETIMEDOUT,
  EPIPE: errno.EPIPE,
  EBADF: errno.EBADF,
  ECONFLICT: errno.ESTALE,
  EUNAVAILABLE: errno.EAGAIN,
  EUNKNOWN: errno.EIO,
  EINTERNAL: errno.EIO,
}

/** An error that only the wire protocol has a number for, such as ENOSYS and ERANGE. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly errno: number

  constructor(code: 'EILSEQ' | 'EINTR' | 'ENOSYS' | 'ENXIO' | 'EPROTO' | 'ERANGE') {
    super(code)
    this.errno = errno[code]
  }
}

/** Returns the error number for the wire; EIO for foreign errors. */
export function toErrno(error: unknown): number {
  if (error instanceof WireError) return error.errno
  return isVfsError(error) ? errnoByCode[error.code] : errno.EIO
}
