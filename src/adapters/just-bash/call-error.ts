import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'

/** Calls of just-bash, by their names in errors. */
export type BashCall =
  | 'open'
  | 'write'
  | 'append'
  | 'stat'
  | 'lstat'
  | 'mkdir'
  | 'scandir'
  | 'rm'
  | 'cp'
  | 'mv'
  | 'chmod'
  | 'symlink'
  | 'link'
  | 'readlink'
  | 'realpath'
  | 'utimes'

/** Messages that scripts and commands expect in place of those of `VfsError`. */
const errorTexts: Partial<Record<ErrorCode, string>> = { ELOOP: 'too many levels of symbolic links' }

/** Converts an error to the form just-bash's commands parse: `ENOENT: no such file or directory, open '/x'`. */
export function toCallError(error: unknown, call: BashCall): unknown {
  if (!isVfsError(error)) return error
  // As link(2): a directory has no hard links.
  const code = call === 'link' && error.code === 'EISDIR' ? 'EPERM' : error.code
  const detail = error.detail ?? errorTexts[code]
  // It has this form already. Shells probe many missing paths, and creating another error is costly.
  if (error.op === call && error.code === code && error.detail === detail) return error
  return new VfsError(code, error.path, { op: call, ...(detail !== undefined && { detail }), cause: error })
}

/** True if an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}
