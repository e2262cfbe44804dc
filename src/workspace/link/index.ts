/**
 * Linked directories: a directory of this machine whose forks live in a home, without an import. The home stores only
 * paths that commands changed, with their state before and after.
 * Invariant: the directory changes only in `apply` and `undo`, completely or not at all.
 */
export { type ApplyConflict, ApplyError } from './apply-conflicts.ts'
export { compareTouchedPaths, isSameAt, toSessionChanges } from './compare-touched-paths.ts'
export type { TreeChange } from './compare-trees.ts'
export type { ApplyContext, Recovery } from './fork-apply.ts'
export { forkByName, forkByNumber } from './fork-mirror.ts'
export { createForkName, ForkPoint, sweepForkPoints } from './fork-point.ts'
export { importSession } from './import-changes.ts'
export type { LinkHome, LinkVault } from './link-home.ts'
export { getUndoName } from './link-record.ts'
export { type CollectOptions, LinkedDirectory, type LinkedFork } from './linked-directory.ts'
export { revertChanges } from './revert-changes.ts'
export { toStagedChanges } from './staged-changes.ts'
export { sweepMirrors } from './sweep-mirrors.ts'
export { TouchedPaths } from './touched-paths.ts'
export { findEntry, removeEntry, type TreeFiles } from './tree.ts'
