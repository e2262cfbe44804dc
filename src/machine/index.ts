/**
 * Functions on the machine, for every layer. Processes: start programs and threads, end a process tree, watch its memory,
 * find processes that have exited. Files: open directories that stay the same, temporary names, private
 * files, missing ones, times, owners and holes. What the oldest Node lacks. No file system.
 * Invariant: nothing here imports anything but Node.
 */

export { AnsweringThread } from './answering-thread.ts'
export { CleanupStack } from './cleanup-stack.ts'
export { DirectoryError } from './directory-error.ts'
export { type DirectoryHandle, findRealPath, openRoot, type RootConfinement } from './directory-handle.ts'
export type { FileDescriptor } from './file-descriptor.ts'
export { chownIfPermitted, type FileOwner, findOwnerChange, isOwnGroup } from './file-owner.ts'
export { type FileTime, toFileTime, toNanoseconds, toUtimesArgument } from './file-time.ts'
export { firstError } from './first-error.ts'
export { findFuseProblem } from './fuse-device.ts'
export { isErrno } from './is-errno.ts'
export { loadCrypto, loadFsPromises } from './load-on-use.ts'
export { MemoryGuard } from './memory-guard.ts'
export { Mutex } from './mutex.ts'
export { hasEntries, listDirectoryIfPresent, readFileIfPresent } from './present-files.ts'
export {
  appendTextSync,
  isOpenToOthers,
  makeDirectories,
  makeFilesPrivate,
  makePrivate,
  makePrivateDirectory,
  makePrivateFile,
  PRIVATE_DIRECTORY_MODE,
  PRIVATE_FILE_MODE,
} from './private-files.ts'
export {
  createProcessTag,
  findStoppedProcess,
  hasExited,
  isStaleTag,
  type ProcessIdentity,
  parseProcessTag,
} from './process-tag.ts'
export {
  createGroupTree,
  createNamespaceTree,
  listChildren,
  listDescendants,
  type ProcessTree,
  RUN_ID_VARIABLE,
} from './process-tree.ts'
export { createRandomBytes, createRandomId } from './random-bytes.ts'
export { computeShortDigest } from './short-digest.ts'
export { writeSparse } from './sparse-write.ts'
export { spawnWithoutInheritedFds } from './spawn-without-inherited-fds.ts'
export { startThread } from './start-thread.ts'
export { TaggedDirectory } from './tagged-directory.ts'
export { createTemporaryName, isTemporaryName, removeAbandonedFiles } from './temporary-name.ts'
