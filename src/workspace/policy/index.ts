/**
 * Policy: decides about a request before its command runs, with a full shell grammar and rules.
 * It runs nothing, and opens nothing but a policy.toml. It is a boundary for plain cases, not a proof.
 * Invariant: `decide` is pure, the strongest category of any part wins, and an opaque command is never read-only.
 */
export type { Category, Finding } from './category.ts'
export { decide, type ExplainedPart, type Explanation, explain, isConfinedToHosts } from './decide.ts'
export { type ExecutionDecision, type PolicyAction, policyActions } from './execution-decision.ts'
export {
  type CommandSpec,
  type ExecutionRequest,
  type ExecutionRequestInput,
  executionRequest,
} from './execution-request.ts'
export {
  type ChangedFiles,
  type ExecutionEnvelope,
  type ExecutionResult,
  encodeOutput,
  executionEnvelope,
  type OutputText,
} from './execution-result.ts'
export type { PrivatePaths } from './host-path.ts'
export { matchesWildcard } from './rules/glob.ts'
export {
  type PolicyFile,
  PolicyFileError,
  type PolicyProblem,
  parsePolicy,
  readPolicy,
} from './rules/policy-file.ts'
export type { PolicyRule, PolicyRules } from './rules/policy-rules.ts'
