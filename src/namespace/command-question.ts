import { formatApproval } from '../text/index.ts'
import type { ExecutionDecision, ExecutionRequest } from '../workspace/index.ts'

/** Formats the question before a command runs: the whole command and all it gets, each line marked. */
export function formatCommandQuestion(request: ExecutionRequest, decision: ExecutionDecision): string {
  return ['Let this run once?', ...formatApproval(request, decision)].join('\n')
}
