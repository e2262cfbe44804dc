import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { ExecutionRequest } from '../policy/index.ts'

/** The ten steps of an execution, in order. */
export const executionSteps = [
  'validate',
  'resolve',
  'policy',
  'gate',
  'baseline',
  'checkpoint',
  'session',
  'run',
  'summarise',
  'result',
] as const

/** A step of an execution, by its name. */
export type ExecutionStep = (typeof executionSteps)[number]

/** Event on the tracing channel `coppice:exec:<step>`. */
export interface ExecutionStepEvent {
  /** The same for all steps of one execution. */
  readonly id: string
  readonly step: ExecutionStep
  /** The request as given; validated from the step `resolve` on. */
  readonly request: Pick<ExecutionRequest, 'vault' | 'command'>
}

const channels = new Map<ExecutionStep, TracingChannel<ExecutionStepEvent, ExecutionStepEvent>>(
  executionSteps.map((step) => [
    step,
    tracingChannel<ExecutionStepEvent, ExecutionStepEvent>(`coppice:exec:${step}`),
  ]),
)

/** Runs one step of an execution, as an event. */
export async function traceStep<T>(event: ExecutionStepEvent, work: () => T | Promise<T>): Promise<T> {
  const channel = channels.get(event.step)
  // Checked first: an event without a subscriber costs nothing.
  if (channel?.hasSubscribers !== true) return work()
  return channel.tracePromise(async () => work(), event)
}
