import { Dir } from './dir.ts'
import { resolvePath, statFollowed } from './fs-context.ts'
import type { FsOperation } from './fs-operation.ts'
import * as operations from './operations/index.ts'
import { parsePath } from './parse-arguments.ts'

type Operations = Readonly<Record<string, FsOperation>>

/**
 * Operations with callbacks (`fs.read`) and without (`fs.readSync`), but not in `fs.promises`: there the methods of a
 * `FileHandle` take their place, and `nodeFs` defines `open`.
 */
export const descriptorOperations: Operations = {
  close: operations.close,
  fchmod: operations.fchmod,
  fchown: operations.fchown,
  fdatasync: operations.fdatasync,
  fstat: operations.fstat,
  fsync: operations.fsync,
  ftruncate: operations.ftruncate,
  futimes: operations.futimes,
  open: operations.open,
  read: operations.read,
  readv: operations.readv,
  write: operations.write,
  writev: operations.writev,
}

const opendir: FsOperation<Dir> = function* (context, path, options) {
  return new Dir(parsePath(path), yield* operations.openListing(context, path, options))
}

/** Operations in all three forms: `fs.stat`, `fs.statSync` and `fs.promises.stat`. */
export const pathOperations: Operations = {
  access: operations.access,
  appendFile: operations.appendFile,
  chmod: operations.chmod,
  chown: operations.chown,
  copyFile: operations.copyFile,
  cp: operations.cp,
  lchown: operations.lchown,
  link: operations.link,
  lstat: operations.lstat,
  lutimes: operations.lutimes,
  mkdir: operations.mkdir,
  mkdtemp: operations.mkdtemp,
  opendir,
  readFile: operations.readFile,
  readdir: operations.readdir,
  readlink: operations.readlink,
  realpath: operations.realpath,
  rename: operations.rename,
  rm: operations.rm,
  rmdir: operations.rmdir,
  stat: operations.stat,
  symlink: operations.symlink,
  truncate: operations.truncate,
  unlink: operations.unlink,
  utimes: operations.utimes,
  writeFile: operations.writeFile,
}

/** Follows links, and takes any failure for false. `fs.promises` has no `exists`. */
export const exists: FsOperation<boolean> = function* (context, given) {
  try {
    yield* statFollowed(context, yield* resolvePath(context, parsePath(given)))
    return true
  } catch {
    return false
  }
}
