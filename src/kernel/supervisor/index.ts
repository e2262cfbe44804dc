/**
 * Supervisors: processes that keep others running, and give up when too much fails.
 * Children end in the order opposite to their beginning, first asked to, then killed.
 * Invariant: when a supervisor has ended, so have its children.
 */
export type { RestartLimits } from './restart-limit.ts'
export { type ChildSpec, type Restart, type Strategy, Supervisor, type SupervisorSpec } from './supervisor.ts'
