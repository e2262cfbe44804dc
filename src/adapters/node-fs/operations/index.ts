/**
 * The operations of Node's fs, each once, as coroutines over an `FsDriver`; `calling-conventions.ts` wraps them as
 * promises, callbacks and synchronous calls. No operation knows which file system is below.
 * Invariant: every error of an operation is one Node could have thrown.
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
} from './attribute-operations.ts'
export { appendFile, copyFile, readFile, truncate, writeFile } from './content-operations.ts'
export { cp } from './cp.ts'
export { type DirentReader, openListing, readdir } from './list-operations.ts'
export {
  link,
  mkdir,
  mkdtemp,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from './name-operations.ts'
export { close, open } from './open-operations.ts'
export {
  type FsReadResult,
  type FsWriteResult,
  fdatasync,
  fsync,
  ftruncate,
  type ReadVectorResult,
  read,
  readv,
  type WriteVectorResult,
  write,
  writev,
} from './transfer-operations.ts'
