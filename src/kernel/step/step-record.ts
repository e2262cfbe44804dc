import type { ContextMessage } from '../context/index.ts'

/** A tool call and its result. */
export interface RecordedCall {
  readonly tool_path: string
  readonly tool_input: string
  readonly tool_result: string
  readonly tool_error: string
}

/** One turn of a process: the prompt, the model's response and the outcome. */
export interface StepRecord extends RecordedCall {
  readonly step_number: number
  readonly timestamp: string
  readonly messages: readonly ContextMessage[]
  /** Provider that answered; a process may switch models. Absent in records of older versions. */
  readonly provider?: string
  readonly model?: string
  readonly tokens_used: number
  readonly raw_response: string
  readonly action: string
  readonly summary: string
  /** Checkpoint with the files at the end of the step. Absent without a workspace. */
  readonly checkpoint?: string
  /** All calls of a response with several, in order. The fields of the record itself are those of the first. */
  readonly tool_calls?: readonly RecordedCall[]
}

/** Returns the calls of a step, in order. */
export function listRecordedCalls(record: StepRecord): readonly RecordedCall[] {
  return record.tool_calls ?? [record]
}

/** Stores the steps of processes. */
export interface StepSink {
  write(uuid: string, record: StepRecord): Promise<void>
}
