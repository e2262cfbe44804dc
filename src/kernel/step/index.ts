/**
 * The record of what processes did, step by step, in files that outlive them.
 * What looks like a secret, or is one of the environment, is taken out before anything is written.
 * Invariant: a step is one line, and a line that was cut off hides none before it.
 */
export { Redactor } from './redact.ts'
export { StepFiles } from './step-files.ts'
export type { StepRecord, StepSink } from './step-record.ts'
