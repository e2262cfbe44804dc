/**
 * What every layer may need of the machine it runs on: threads and programs that start however this one was started,
 * processes that may be over, directories that stay the same ones while they are open, names for files that are being
 * written, files that only their owner may read, times, owners and holes of files. No file system.
 * Invariant: nothing here imports anything but Node.
 */
export type { Descriptor } from './descriptor.ts'
export { type Confinement, type Directory, openRoot, realPathOf } from './directory.ts'
export { DirectoryFault } from './directory-fault.ts'
export { type FileTime, fileTime, nanosOf, utimesArgument } from './file-time.ts'
export { firstError } from './first-error.ts'
export { isLeftover, isOver, type Maker, makerOf, ownMark } from './maker.ts'
export { giveTo, type Owner } from './owner.ts'
export {
  isOpenToOthers,
  makePrivate,
  makePrivateDirectory,
  makePrivateFile,
  PRIVATE_DIRECTORY,
  PRIVATE_FILE,
  settleFiles,
} from './private-files.ts'
export { writeSparse } from './sparse-write.ts'
export { spawnBare } from './spawn-bare.ts'
export { startThread } from './start-thread.ts'
export { isTemporary, removeAbandoned, temporaryName } from './temporary-name.ts'
