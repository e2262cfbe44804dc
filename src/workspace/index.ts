/**
 * The execution boundary: run a command against a fork of a directory or vault, see what it changed, keep or drop it.
 * `policy` decides, `session` and `isolation` run, `link` keeps what changed, `runtime` puts them together.
 * Invariant: the workspace a command was run on changes only when its changes are applied or merged.
 */
export { type Checkout, type CheckoutHome, Checkouts } from './checkout/index.ts'
export {
  type ApplyConflict,
  ApplyError,
  type Collection,
  isMirrorName,
  LinkedDirectory,
  type LinkedFork,
  type TreeChange,
  undoNameOf,
} from './link/index.ts'
export {
  type ChangedFiles,
  type CommandSpec,
  decide,
  type ExecutionDecision,
  type ExecutionEnvelope,
  type ExecutionRequest,
  type ExecutionRequestInput,
  type ExecutionResult,
  type ExplainedPart,
  type Explanation,
  executionEnvelope,
  executionRequest,
  explain,
  type OutputText,
  type PolicyFile,
  PolicyFileError,
  type PolicyRule,
  type PolicyRules,
  parsePolicy,
  readPolicy,
} from './policy/index.ts'
export {
  type Approval,
  Approvals,
  type Baseline,
  type Collected,
  type ExecuteOptions,
  type ExecutionJournal,
  type ExecutionWorkspace,
  execute,
  FileJournal,
  type ForkChoice,
  type JournalEvent,
  type JournalLine,
  LinkedWorkspace,
  type OpenExecution,
  openExecution,
  Refusal,
  type RunningOptions,
  type Step,
  type StepEvent,
  steps,
  sweepForkPoints,
  type VaultChoice,
  VaultWorkspace,
  type WorkspaceHome,
} from './runtime/index.ts'
