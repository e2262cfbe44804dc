/**
 * What every layer may need of the machine it runs on: threads and programs that start however this one was started,
 * processes that may be over, directories that stay the same ones while they are open, names for files that are being
 * written, files that only their owner may read, times, owners and holes of files. No file system.
 * Invariant: nothing here imports anything but Node.
 */

export { DirectoryError } from './directory-error.ts'
export { type DirectoryHandle, findRealPath, openRoot, type RootConfinement } from './directory-handle.ts'
export type { FileDescriptor } from './file-descriptor.ts'
export { chownIfPermitted, type FileOwner } from './file-owner.ts'
export { type FileTime, toFileTime, toNanoseconds, toUtimesArgument } from './file-time.ts'
export { firstError } from './first-error.ts'
export { isErrno } from './is-errno.ts'
export { Mutex } from './mutex.ts'
export {
  isOpenToOthers,
  makeFilesPrivate,
  makePrivate,
  makePrivateDirectory,
  makePrivateFile,
  PRIVATE_DIRECTORY_MODE,
  PRIVATE_FILE_MODE,
} from './private-files.ts'
export {
  createProcessTag,
  hasExited,
  isStaleTag,
  type ProcessIdentity,
  parseProcessTag,
} from './process-tag.ts'
export { writeSparse } from './sparse-write.ts'
export { spawnWithoutInheritedFds } from './spawn-without-inherited-fds.ts'
export { startThread } from './start-thread.ts'
export { createTemporaryName, isTemporaryName, removeAbandonedFiles } from './temporary-name.ts'
