import { type KernelEvent, listRecordedCalls, type StepRecord, type TextEvent } from '../kernel/index.ts'
import type { ProcessRecord } from './process-records.ts'

type RecordedEvent = Exclude<KernelEvent, TextEvent>

/**
 * Restores the events of a process from its record and its steps, after the program it ran in has ended: its start,
 * each request to its model, each tool call, and its end. Durations and single system calls are not recorded.
 */
export function restoreEvents(record: ProcessRecord, steps: readonly StepRecord[]): RecordedEvent[] {
  const { pid, started_at, ended_at, intent, state, exit_code, reason } = record
  const toElapsed = (time: string) => Math.max(0, Date.parse(time) - Date.parse(started_at))
  const events: RecordedEvent[] = [{ kind: 'spawned', pid, elapsed: 0, detail: intent }]
  for (const step of steps) events.push(...restoreStep(pid, toElapsed(step.timestamp), step))
  const detail = state === 'lost' ? reason : `${exit_code} ${reason}`
  if (ended_at !== null) events.push({ kind: 'ended', pid, elapsed: toElapsed(ended_at), detail })
  return events
}

function restoreStep(pid: number, elapsed: number, step: StepRecord): RecordedEvent[] {
  const { provider = '', model = '', raw_response: response } = step
  const common = { kind: 'syscall', pid, elapsed, duration: 0 } as const
  const calls = listRecordedCalls(step)
    .filter(({ tool_path }) => tool_path !== '')
    .map(({ tool_path, tool_input, tool_result, tool_error }): RecordedEvent => {
      const end = tool_error === '' ? { result: tool_result } : { error: tool_error }
      return { ...common, call: 'tool', args: [tool_path, tool_input], ...end }
    })
  return [
    {
      ...common,
      call: 'request',
      args: [[provider, model].filter((part) => part !== '').join('/')],
      result: response,
    },
    ...calls,
    { kind: 'log', pid, elapsed, text: `step ${step.step_number}: ${step.summary}` },
  ]
}
