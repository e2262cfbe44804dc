/**
 * Sessions: a directory of this machine as commands may change it, without being changed. An overlay of the kernel
 * where there is one, a private copy elsewhere; the same commands lead to the same changes.
 * Invariant: nothing outside the session's own directory is written, and nothing outlives the process that opened it.
 */

export type {
  CommandSession,
  LiveBase,
  RunOutcome,
  RunSpec,
  SessionBase,
  SessionChange,
  StagedChange,
} from './command-session.ts'
export { stageInto } from './entries/staging.ts'
export { type HostFinding, inspectHost } from './inspect-host.ts'
export { openSession, type SessionKind } from './open-session.ts'
export { removeTree, sweepSessions } from './session-directory.ts'
