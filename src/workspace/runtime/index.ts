/**
 * The execution boundary: a request, a decision, a session and the command's changes, in ten steps. The caller
 * supplies the workspace, the approvals, the journal and the environment.
 * Invariant: a refused request leaves nothing but a line in the journal, and a waiting approval if it needs one.
 */

export { hasPseudoTerminals } from '../isolation/index.ts'
export { type CommandTerminal, isContinuedByOthers, type RunningSession } from '../session/index.ts'
export { type Approval, Approvals } from './approvals.ts'
export { createDirectoryMask } from './directory-mask.ts'
export {
  execute,
  type OpenExecution,
  openExecution,
  type RunningOptions,
} from './execute.ts'
export type { ExecuteOptions } from './execute-options.ts'
export {
  type ExecutedCommand,
  type ExecutionJournal,
  FileJournal,
  type JournalEvent,
  type JournalLine,
} from './execution-journal.ts'
export { canIsolate } from './execution-network.ts'
export { type ApprovalAnswer, ExecutionRefusal, type NegativeAnswer } from './execution-refusal.ts'
export { type ExecutionStep, type ExecutionStepEvent, executionSteps } from './execution-steps.ts'
export type {
  Baseline,
  CollectedChanges,
  CommandChanges,
  ExecutionWorkspace,
  OverwrittenChanges,
} from './execution-workspace.ts'
export { explainIsolated, type IsolatedExplanation, type IsolationContext } from './explain-isolated.ts'
export { ForkCopies } from './fork-copies.ts'
export { type ForkView, openForkView } from './fork-view.ts'
export { type GrantScope, type HostGrant, HostGrants } from './host-grants.ts'
export { findHostProgram } from './host-programs.ts'
export { createJoinedWorkspace } from './joined-workspace.ts'
export { type ForkChoice, LinkedWorkspace } from './linked-workspace.ts'
export { createMaskSettings, type MaskChoice, type MaskSettings } from './mask-settings.ts'
export { type ForkMountOptions, type MountedFork, mountFork } from './mount-fork.ts'
export { listRecordedPoints } from './recorded-starts.ts'
export type { RecoveredFork } from './recover-left-forks.ts'
export { recoverMountedForks } from './recover-mounted-forks.ts'
export { recoverSessions } from './recover-sessions.ts'
export { formatVaultScope } from './session-mask.ts'
export type { ForkMountChanges } from './store-mount-changes.ts'
export { type SweepReport, sweepHome } from './sweep-home.ts'
export { createTrialWorkspace } from './trial-workspace.ts'
export { listMountedForks, type UpdateFailure, updateMountedForks } from './update-mounted-forks.ts'
export { type VaultChoice, VaultWorkspace } from './vault-workspace.ts'
export { listWaitingChanges, type WaitingChanges } from './waiting-changes.ts'
export type { WorkspaceHome } from './workspace-home.ts'
