import {
  type ContextMessage,
  listRecordedCalls,
  type ProcessOptions,
  type SpawnOptions,
  type StepRecord,
} from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'
import type { ProcessRecord } from './process-records.ts'
import { getRemainingLimits, type ProcessSettings } from './process-settings.ts'

/** A process and a step of it, from which another one starts: `3@5`, or `3` for its last step. */
export interface RestartPoint {
  readonly pid: number
  readonly step?: number | undefined
}

/** Settings of a process that continues another. */
export interface ContinuedProcess
  extends Pick<SpawnOptions, 'provider' | 'model' | 'vault' | 'checkpoint' | 'messages'> {
  readonly pid: number
  readonly agent: string | undefined
  /** Undefined if an older version recorded it. */
  readonly settings: ProcessSettings | undefined
}

/**
 * Returns the settings of a process that continues a recorded one with an intent. Throws ENOENT if that one has no such
 * step, ENOTSUP if it is a supervisor, which has no model.
 */
export function continueProcess(
  record: ProcessRecord,
  steps: readonly StepRecord[],
  from: RestartPoint,
  intent: string,
): ContinuedProcess {
  if (record.provider === '') {
    const detail = `process ${record.pid} had no model to continue with; start it again`
    throw new VfsError('ENOTSUP', `/proc/${record.pid}`, { op: 'spawn', detail })
  }
  const step = findStep(steps, from)
  const messages = restoreMessages(steps, step)
  return {
    pid: record.pid,
    settings: record.settings,
    provider: record.provider,
    model: record.model,
    agent: record.agent ?? undefined,
    vault: step.checkpoint === undefined ? undefined : (record.fork ?? undefined),
    checkpoint: step.checkpoint,
    messages: intent === record.intent ? messages : [...messages, { role: 'user', content: intent }],
  }
}

/** Request for a process that resumes an ended one, with the rest of its limits. */
interface Resumption extends Pick<ProcessOptions, 'budget' | 'max_steps'> {
  readonly intent: string
  readonly from: RestartPoint
}

/**
 * Creates the request that resumes a process. Throws EINVAL if it succeeded, as it would do its work again, or if it
 * has used up a limit.
 */
export function createResumption(record: ProcessRecord, steps: readonly StepRecord[]): Resumption {
  const { pid, intent, provider, state, exit_code } = record
  // A supervisor cannot be continued at all.
  if (state === 'ended' && exit_code === 0 && provider !== '') {
    const detail = `process ${pid} is done; start another from it with: coppice spawn "…" --from ${pid}`
    throw new VfsError('EINVAL', `/proc/${pid}`, { op: 'resume', detail })
  }
  return { intent, from: { pid }, ...getRemainingLimits(record, steps) }
}

/** Returns the step of a restart point. Throws ENOENT, with the number of steps, if there is no such step. */
function findStep(steps: readonly StepRecord[], { pid, step }: RestartPoint): StepRecord {
  const found = step === undefined ? steps.at(-1) : steps.find(({ step_number }) => step_number === step)
  if (found !== undefined) return found
  const detail =
    steps.length === 0
      ? `process ${pid} ended before its first step; spawn it anew`
      : `process ${pid} has ${steps.length} steps, and no step ${step}`
  throw new VfsError('ENOENT', `/proc/${pid}/steps`, { op: 'spawn', detail })
}

/** Returns the conversation after a step: the prompt of the next step, or this one with its answer and results. */
function restoreMessages(steps: readonly StepRecord[], step: StepRecord): readonly ContextMessage[] {
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
