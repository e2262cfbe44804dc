import type { ContextMessage, StepRecord } from '../kernel/index.ts'
import { listRecordedCalls } from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

/** A process and a step of it, from which another one starts: `3@5`, or `3` for its last step. */
export interface RestartPoint {
  readonly pid: number
  readonly step?: number | undefined
}

/** Returns the step of a restart point. Throws ENOENT, with a list of the steps, if it names none. */
export function findStep(steps: readonly StepRecord[], { pid, step }: RestartPoint): StepRecord {
  const found = step === undefined ? steps.at(-1) : steps.find(({ step_number }) => step_number === step)
  if (found !== undefined) return found
  const detail =
    steps.length === 0
      ? `process ${pid} ended before its first step; spawn it anew`
      : `process ${pid} has ${steps.length} steps, and no step ${step}`
  throw new VfsError('ENOENT', `/proc/${pid}/steps`, { op: 'spawn', detail })
}

/** Returns the conversation after a step: the prompt of the next step, or this one with its answer and results. */
export function restoreMessages(steps: readonly StepRecord[], step: StepRecord): readonly ContextMessage[] {
  const next = steps.find(({ step_number }) => step_number === step.step_number + 1)
  if (next !== undefined) return next.messages
  const results = listRecordedCalls(step).map(({ tool_result, tool_error }) =>
    tool_error === '' ? tool_result : `Error: ${tool_error}`,
  )
  const answer: ContextMessage = { role: 'assistant', content: step.raw_response }
  const outcome: ContextMessage = {
    role: 'user',
    content: results.filter((text) => text !== '').join('\n\n'),
  }
  return [...step.messages, answer, outcome].filter(({ content }) => content !== '')
}
