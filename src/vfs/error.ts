/** Every error code with its default message. docs/errors.md documents them. */
export const errorCodes = {
  ENOENT: 'no such file or directory',
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ENOTDIR: 'not a directory',
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EINVAL: 'invalid argument',
  EXDEV: 'cross-mount operation not permitted',
  EIO: 'input/output error',
  ELOOP: 'too many symbolic links',
  ENOTSUP: 'operation not supported',
  ENOTEMPTY: 'directory not empty',
  ENAMETOOLONG: 'name too long',
  ENODATA: 'no such attribute',
  EFBIG: 'file too large',
  ENOSPC: 'no space left',
  ETIMEDOUT: 'timed out',
  EPIPE: 'broken pipe',
  EBADF: 'bad file handle',
  ECONFLICT: 'changed by someone else',
  EUNAVAILABLE: 'temporarily unavailable',
  EUNKNOWN: 'outcome unknown',
  EINTERNAL: 'internal error',
} as const

/** Code of a `VfsError`. docs/errors.md describes each. */
export type ErrorCode = keyof typeof errorCodes

/** Details of a `VfsError` besides its code and path. */
export interface VfsErrorDetails {
  /** The operation that failed. */
  readonly op?: string
  /** The mount point the path belongs to, set when the error crosses a mount table. */
  readonly mount?: string
  /** The exact problem and the next step. Replaces the default message of the code. */
  readonly detail?: string
  readonly cause?: unknown
}

/** A `VfsError` as it crosses a socket. */
export interface VfsErrorJson {
  readonly code: ErrorCode
  readonly path: string
  readonly op?: string
  readonly mount?: string
  readonly detail?: string
  readonly message: string
}

/**
 * The error that every file system operation throws, shaped like Node's: `ENOENT: no such file or directory, stat
 * '/a/b'`. Test for it with `isVfsError(error, code)`, which also recognises errors from another process or another
 * copy of the package.
 *
 * @example
 * ```ts
 * const error = await new MemoryFs().stat('/missing').catch((error) => error)
 * assert.ok(error instanceof VfsError)
 * assert.equal(error.code, 'ENOENT')
 * ```
 */
export class VfsError extends Error {
  override readonly name = 'VfsError'
  readonly code: ErrorCode
  readonly path: string
  readonly op: string | undefined
  readonly mount: string | undefined
  readonly detail: string | undefined

  constructor(code: ErrorCode, path: string, details: VfsErrorDetails = {}) {
    super(
      formatMessage(code, path, details),
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.code = code
    this.path = path
    this.op = details.op
    this.mount = details.mount
    this.detail = details.detail
  }

  toJSON(): VfsErrorJson {
    return {
      code: this.code,
      path: this.path,
      ...(this.op !== undefined && { op: this.op }),
      ...(this.mount !== undefined && { mount: this.mount }),
      ...(this.detail !== undefined && { detail: this.detail }),
      message: this.message,
    }
  }

  static fromJSON(json: VfsErrorJson): VfsError {
    return new VfsError(json.code, json.path, json)
  }

  /**
   * Returns the same error at another path, for a layer that names files differently; the given one is its cause. The
   * old mount is a name of the old namespace, so the error has no mount unless one is given.
   * Not a method: an error of another copy of the package may have none.
   */
  static withPath(error: VfsError, path: string, mount?: string): VfsError {
    return new VfsError(error.code, path, {
      ...(error.op !== undefined && { op: error.op }),
      ...(mount !== undefined && { mount }),
      ...(error.detail !== undefined && { detail: error.detail }),
      cause: error,
    })
  }
}

/**
 * Reports whether a value is a `VfsError`, optionally with a certain code.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs()
 * const text = await readText(fs, '/notes.md').catch((error) => {
 *   if (isVfsError(error, 'ENOENT')) return ''
 *   throw error
 * })
 * assert.equal(text, '')
 * ```
 */
export function isVfsError(error: unknown, code?: ErrorCode): error is VfsError {
  // Not instanceof: the error may come from another copy of the package or another realm.
  if (typeof error !== 'object' || error === null || !('name' in error) || !('code' in error)) return false
  if (error.name !== 'VfsError' || typeof error.code !== 'string') return false
  return code === undefined || error.code === code
}

function formatMessage(code: ErrorCode, path: string, { op, detail }: VfsErrorDetails): string {
  return `${code}: ${detail ?? errorCodes[code]}, ${op === undefined ? '' : `${op} `}'${path}'`
}
