/** Error of a directory or descriptor that a check found, not a system call. */
export class DirectoryError extends Error {
  readonly code: 'EACCES' | 'EBADF' | 'ELOOP' | 'ENOENT' | 'ENOTDIR' | 'ENOTSUP'
  readonly detail: string | undefined

  constructor(code: DirectoryError['code'], detail?: string) {
    super(detail ?? code)
    this.code = code
    this.detail = detail
  }
}
