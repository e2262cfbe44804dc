/**
 * The execution boundary of a home: it finds the vault or directory of a request, and keeps the journal and the
 * approvals. `workspace` decides about commands, runs them and collects their changes.
 * Invariant: a request reaches only vaults of this home and the named directory.
 */
export {
  Boundary,
  type BoundaryRunOptions,
  type RunReport,
} from './boundary.ts'
export { claimNewFork, type RunningFork, RunningForks } from './running-forks.ts'
