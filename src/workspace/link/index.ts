/**
 * Linked directories: a directory of this machine whose forks live in a home, without being imported.
 * Only paths that commands touched are stored, as they were and as they became.
 * Invariant: the directory changes in `apply` and `undo` alone, wholly or not at all.
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
