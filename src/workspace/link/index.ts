/**
 * Linked directories: a directory of this machine whose forks live in a home, without being imported.
 * Only paths that commands touched are stored, as they were and as they became.
 * Invariant: the directory changes in `apply` and `undo` alone, wholly or not at all.
 */
export { type ApplyConflict, ApplyError } from './apply-conflicts.ts'
export type { TreeChange } from './compare-trees.ts'
export type { ApplyContext, Recovery } from './fork-apply.ts'
export { forkByName, forkByNumber } from './fork-mirror.ts'
export { ForkPoint, ownForkName, sweepForkPoints } from './fork-point.ts'
export { importSession } from './import-changes.ts'
export type { LinkHome, LinkVault } from './link-home.ts'
export { undoNameOf } from './link-record.ts'
export { type Collection, LinkedDirectory, type LinkedFork } from './linked-directory.ts'
export { stagedChanges } from './staged-changes.ts'
export { sweepMirrors } from './sweep-mirrors.ts'
export { takeBack } from './take-back.ts'
export { Touched } from './touched.ts'
export { asSessionChanges, isSameAt, touchedChanges } from './touched-changes.ts'
export { removeEntry, type TreeFiles, treeEntry } from './tree.ts'
