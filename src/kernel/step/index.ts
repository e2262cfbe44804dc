/**
 * The record of what processes did, step by step, in files that outlive them.
 * What looks like a secret, or is one of those it was told, is taken out before anything is written.
 * Invariant: a step is one line, and a line that was cut off hides none before it.
 */
export { isSecretName, KnownSecrets, Redactor } from '../../secrets/index.ts'
export { StepFiles } from './step-files.ts'
export { listRecordedCalls, type RecordedCall, type StepRecord, type StepSink } from './step-record.ts'
