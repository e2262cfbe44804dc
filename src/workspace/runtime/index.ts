/**
 * The execution boundary at work: a request, a decision, a session, and what the command changed, in ten steps.
 * What a workspace is, where approvals and the journal are kept and what a command inherits is given to it.
 * Invariant: what is refused or fails leaves nothing behind but a line of the journal.
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
