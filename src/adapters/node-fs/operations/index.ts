/**
 * What Node's fs can do, each operation once, in steps over a `Ground`; `faces.ts` makes promises, callbacks and
 * synchronous calls of them. No operation knows which file system is below.
 * Invariant: every failure that leaves an operation is one Node could have given.
 */
export {
  access,
  chmod,
  chown,
  fchmod,
  fchown,
  fstat,
  futimes,
  lchown,
  lstat,
  lutimes,
  stat,
  utimes,
} from './attributes.ts'
export { appendFile, copyFile, readFile, truncate, writeFile } from './content.ts'
export { cp } from './cp.ts'
export { type DirectoryNames, openListing, readdir } from './listing.ts'
export { link, mkdir, mkdtemp, readlink, realpath, rename, rm, rmdir, symlink, unlink } from './names.ts'
export { close, open } from './open.ts'
export {
  fdatasync,
  fsync,
  ftruncate,
  type ReadResult,
  type ReadVectorResult,
  read,
  readv,
  type WriteResult,
  type WriteVectorResult,
  write,
  writev,
} from './transfer.ts'
