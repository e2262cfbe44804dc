/**
 * Merges that wait for the resolution of their conflicts, one at a time: of vaults, of forks of a directory, and of
 * forks into their directory. A file of the home has the choices; the merge is then performed with them.
 * Invariant: nothing is written until no conflict is open.
 */
export type { PendingMerge } from './pending-merge.ts'
export { PendingMerges } from './pending-merges.ts'
export { type PerformedMerge, performMerge } from './perform-merge.ts'
export { sweepMergeStates } from './sweep-merge-states.ts'
