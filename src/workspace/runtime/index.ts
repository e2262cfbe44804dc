/**
 * The execution boundary: a request, a decision, a session and the command's changes, in ten steps. The caller
 * supplies the workspace, the approvals, the journal and the environment.
 * Invariant: a refused or failed request leaves nothing but a line in the journal.
 */
export { type Approval, Approvals } from './approvals.ts'
export {
  type ExecuteOptions,
  execute,
  type OpenExecution,
  openExecution,
  type RunningOptions,
} from './execute.ts'
export {
  type ExecutedCommand,
  type ExecutionJournal,
  FileJournal,
  type JournalEvent,
  type JournalLine,
} from './execution-journal.ts'
export { type ApprovalAnswer, ExecutionRefusal, type NegativeAnswer } from './execution-refusal.ts'
export { type ExecutionStep, type ExecutionStepEvent, executionSteps } from './execution-steps.ts'
export type { Baseline, CollectedChanges, CommandChanges, ExecutionWorkspace } from './execution-workspace.ts'
export { explainInThread } from './explain-in-thread.ts'
export { type ForkChoice, LinkedWorkspace } from './linked-workspace.ts'
export { type SweepReport, sweepHome } from './sweep-home.ts'
export { type VaultChoice, VaultWorkspace } from './vault-workspace.ts'
export type { WorkspaceHome } from './workspace-home.ts'
