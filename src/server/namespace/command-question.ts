import type { ExecutionDecision, ExecutionRequest } from '../../workspace/index.ts'
import { approvalLines } from '../text/index.ts'

/** What a person is asked before a command runs: all of the command and all it gets, each line marked as its own. */
export function commandQuestion(request: ExecutionRequest, decision: ExecutionDecision): string {
  return ['Let this run once?', ...approvalLines(request, decision)].join('\n')
}
