import type { ContextMessage } from '../context/index.ts'

/** A call of a tool, and what came of it. */
export interface RecordedCall {
  readonly tool_path: string
  readonly tool_input: string
  readonly tool_result: string
  readonly tool_error: string
}

/** One turn of a process: what its model was told, what it said, and what came of it. */
export interface StepRecord extends RecordedCall {
  readonly step_number: number
  readonly timestamp: string
  readonly messages: readonly ContextMessage[]
  /** Who answered: a process may go on to another. Absent in records of older versions. */
  readonly provider?: string
  readonly model?: string
  readonly tokens_used: number
  readonly raw_response: string
  readonly action: string
  readonly summary: string
  /** All calls of an answer that made several, in order; the fields of the record itself are the first one's. */
  readonly tool_calls?: readonly RecordedCall[]
}

/** The calls of a step, in order. */
export function listRecordedCalls(record: StepRecord): readonly RecordedCall[] {
  return record.tool_calls ?? [record]
}

/** Keeps the steps of processes. */
export interface StepSink {
  write(uuid: string, record: StepRecord): Promise<void>
}
