import {
  type ChangedFiles,
  type ExecutionDecision,
  type ExecutionRequest,
  type ExecutionResult,
  encodeOutput,
} from '../policy/index.ts'
import type { CommandSession, RunOutcome } from '../session/index.ts'
import type { Completion } from './execution-journal.ts'

/** Parts of the result of an execution. */
export interface ResultParts {
  readonly request: ExecutionRequest
  readonly decision: ExecutionDecision
  readonly session: CommandSession
  readonly checkpoint: string | null
  readonly outcome: RunOutcome
  readonly changed: ChangedFiles
  readonly setuid: readonly string[]
  readonly leftOut: readonly string[]
  readonly connections: ExecutionResult['network']
}

/** Creates the result of an execution from its parts. */
export function createResult(parts: ResultParts): ExecutionResult {
  const { request, decision, session, checkpoint, outcome, changed, setuid, leftOut, connections } = parts
  const { vault, cwd, command, readonly } = request
  return {
    vault,
    mountpoint: session.path,
    cwd,
    command,
    stdout: encodeOutput(outcome.stdout),
    stderr: encodeOutput(outcome.stderr),
    exit_code: outcome.exitCode,
    duration_ms: Math.round(outcome.durationMs),
    readonly,
    checkpoint,
    changed_files: changed,
    ...(setuid.length > 0 && { setuid_files: setuid }),
    ...(leftOut.length > 0 && { left_out: leftOut }),
    ...(outcome.truncated && { truncated: true }),
    ...(outcome.stopped !== undefined && { stopped: outcome.stopped }),
    decision,
    timed_out: outcome.timedOut,
    session: session.kind,
    ...(connections !== undefined && { network: connections }),
  }
}

/** Returns the part of a result that the journal keeps. */
export function toCompletion(result: ExecutionResult): Completion {
  const { exit_code, duration_ms, timed_out, checkpoint, changed_files, session, network } = result
  const completion = { exit_code, duration_ms, timed_out, checkpoint, changed_files, session }
  return { ...completion, ...(network !== undefined && { network }) }
}
