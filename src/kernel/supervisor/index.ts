/**
 * Supervisors: processes that keep others running and give up after too many failures.
 * Children stop in reverse order of their start: first they get a signal, then they are killed.
 * Invariant: when a supervisor has ended, so have its children.
 */
export type { RestartLimits } from './restart-limit.ts'
export { type ChildSpec, Supervisor, type SupervisorSpec } from './supervisor.ts'
export {
  type Restart,
  restartSchema,
  type Strategy,
  type SupervisorOptions,
  supervisorOptionShape,
} from './supervisor-options.ts'
