import type { RunReport } from '../../../boundary/index.ts'
import type { Redactor } from '../../../secrets/index.ts'
import type { ExecutionEnvelope, ExecutionRequestInput } from '../../../workspace/index.ts'

/**
 * Converts a run to JSON without the secrets in its command line, because logs keep such envelopes. The output stays
 * unchanged.
 */
export async function createRedactedEnvelope(
  input: ExecutionRequestInput,
  { result: whole, fork }: RunReport,
  redactor: Redactor,
  withheld: readonly string[],
): Promise<ExecutionEnvelope & Pick<RunReport, 'fork'> & { readonly withheld_env: readonly string[] }> {
  const { executionEnvelope, executionRequest } = await import('../../../workspace/index.ts')
  const { request, result, ...rest } = executionEnvelope(executionRequest(input), whole)
  const { command, decision } = redactor.redactValue({ command: result.command, decision: result.decision })
  return {
    ...rest,
    request: { ...request, command, env: redactor.redactEnvironment(request.env) },
    result: { ...result, command, decision },
    fork,
    withheld_env: withheld,
  }
}
