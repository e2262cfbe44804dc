/**
 * Step records of processes, in files that outlive them.
 * Known secrets and text that looks like a secret are removed before anything is written.
 * Invariant: a step is one line, and a truncated line damages no earlier line.
 */
export { isSecretName, KnownSecrets, Redactor } from '../../secrets/index.ts'
export { StepFiles } from './step-files.ts'
export { listRecordedCalls, type RecordedCall, type StepRecord, type StepSink } from './step-record.ts'
