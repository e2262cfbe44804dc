import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'

/** The calls of just-bash, by the names its commands know from errors. */
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

/** Words that scripts and commands expect where ours differ. */
const errorTexts: Partial<Record<ErrorCode, string>> = { ELOOP: 'too many levels of symbolic links' }

/** An error as just-bash's commands read it: `ENOENT: no such file or directory, open '/x'`. */
export function toCallError(error: unknown, call: BashCall): unknown {
  if (!isVfsError(error)) return error
  const code = call === 'link' && error.code === 'EISDIR' ? 'EPERM' : error.code
  const detail = error.detail ?? errorTexts[code]
  // Shells ask for much that is not there, and the trace of an error is costly.
  if (error.op === call && error.code === code && error.detail === detail) return error
  return new VfsError(code, error.path, { op: call, ...(detail !== undefined && { detail }), cause: error })
}

/** Whether there is just nothing at a path. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}
