import { formatApproval } from '../text/index.ts'
import type { ExecutionDecision, ExecutionRequest } from '../workspace/index.ts'

/** What a person is asked before a command runs: all of the command and all it gets, each line marked as its own. */
export function formatCommandQuestion(request: ExecutionRequest, decision: ExecutionDecision): string {
  return ['Let this run once?', ...formatApproval(request, decision)].join('\n')
}
