/**
 * Linked directories: a directory of this machine whose forks live in a home, without an import. The home stores only
 * paths that commands changed, with their state before and after.
 * Invariant: the directory changes only in `apply` and `undo`, completely or not at all.
 */
export { type ApplyConflict, ApplyError } from './apply-conflicts.ts'
export type { Recovery } from './apply-journal.ts'
export type { CollectOptions } from './collect-session.ts'
export { compareTouchedPaths, isSameAt, toSessionChanges } from './compare-touched-paths.ts'
export { compareTrees, createChangeWork, type TreeChange } from './compare-trees.ts'
export { writeDirectory } from './directory-write.ts'
export { isFileLocked, tryLockFile } from './file-lock.ts'
export type { ApplyContext } from './fork-apply.ts'
export { getForkFilesDirectory, removeForkFiles } from './fork-files.ts'
export type { ForkMergeOptions } from './fork-merge.ts'
export { createNumberedForkName, forkByName, forkByNumber } from './fork-mirror.ts'
export {
  createForkName,
  deleteSessionFork,
  ForkPoint,
  isSessionForkName,
  sweepForkPoints,
} from './fork-point.ts'
export { isRefreshedIndex } from './git-index.ts'
export { HostTree } from './host-tree.ts'
export { importSession, isImported } from './import-changes.ts'
export { createFileEntry, isSameEntry, type LinkEntry, readEntry } from './link-entry.ts'
export type { LinkedFork, LinkHome, LinkVault } from './link-home.ts'
export { listCompanionNames } from './link-record.ts'
export { LinkedDirectory } from './linked-directory.ts'
export { LinkedFs, type LinkedFsParts } from './linked-fs.ts'
export type { MaskContent } from './masked-host-tree.ts'
export { mergeEntries } from './merge-entries.ts'
export { resolveChanges } from './resolve-changes.ts'
export { revertChanges } from './revert-changes.ts'
export { ensureSecretKey } from './secret-key.ts'
export type { ChangeSelection, PickedFile } from './select-changes.ts'
export { createStageName, isReservedPath } from './stage-names.ts'
export { toStagedChanges } from './staged-changes.ts'
export { type ForkSource, findForkByName } from './started-fork.ts'
export { sweepMirrors } from './sweep-mirrors.ts'
export { TouchedPaths } from './touched-paths.ts'
export {
  findEntry,
  getParent,
  linkEntry,
  listNames,
  putEntry,
  removeEntry,
  type TreeFiles,
} from './tree.ts'
export { performWork } from './tree-work.ts'
export { discardStage, revertUnfinished } from './unfinished-write.ts'
export { isSameState, UnpackedRefs } from './unpacked-refs.ts'
export { WriteLock } from './write-lock.ts'
export { guardPackedRefs } from './written-refs.ts'
