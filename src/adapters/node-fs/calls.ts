import { pathText } from './arguments.ts'
import { Dir } from './dir.ts'
import type { Operation } from './operation.ts'
import * as operations from './operations/index.ts'
import { followed, located } from './site.ts'

type Operations = Readonly<Record<string, Operation>>

/** Works on open files; a promise gives a `FileHandle` for these. */
export const onDescriptors: Operations = {
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

const opendir: Operation<Dir> = function* (site, path, options) {
  return new Dir(pathText(path), yield* operations.openListing(site, path, options))
}

/** The same in all three faces. */
export const onPaths: Operations = {
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

/** Whether something is at a path, links followed. Whatever is wrong with it, the answer is no. */
export const exists: Operation<boolean> = function* (site, given) {
  try {
    yield* followed(site, yield* located(site, pathText(given)))
    return true
  } catch {
    return false
  }
}
