import type { ExecutionDecision } from './execution-decision.ts'
import type { CommandSpec, ExecutionRequest } from './execution-request.ts'

/** Paths of the workspace that a command changed, each list sorted. */
export interface ChangedFiles {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

/** What a program wrote: text, or base64 where it is not UTF-8. */
export type OutputText = string | { readonly encoding: 'base64'; readonly data: string }

/** What came of a request. The names are those of the envelope. */
export interface ExecutionResult {
  readonly vault: string
  readonly mountpoint: string
  readonly cwd: string
  readonly command: CommandSpec
  readonly stdout: OutputText
  readonly stderr: OutputText
  /** Null where a signal ended it. */
  readonly exit_code: number | null
  readonly duration_ms: number
  readonly readonly: boolean
  /** The checkpoint that was taken before, if any. */
  readonly checkpoint: string | null
  readonly changed_files: ChangedFiles
  /** Files that the command made setuid or setgid; absent if there are none. */
  readonly setuid_files?: readonly string[]
  /**
   * What the command did that cannot be kept: pipes, sockets, devices, names that are not UTF-8 or that `apply` takes,
   * what no path leads to since it would be too long, and changes of what the user may not read.
   */
  readonly left_out?: readonly string[]
  /** There was more output than is kept: what is here is the beginning of it. */
  readonly truncated?: boolean
  readonly decision: ExecutionDecision
  readonly timed_out: boolean
  /** Why the command was ended before its time, if it was: it took too long, somebody asked for it, it filled the disk. */
  readonly stopped?: 'timeout' | 'abort' | 'disk' | 'memory'
  readonly session: 'overlay' | 'fuse' | 'dir'
}

/** A request as the envelope tells it: normalised, without what was fed to the program. */
interface EnvelopeRequest {
  readonly vault: string
  readonly cwd: string
  readonly readonly: boolean
  readonly checkpoint: ExecutionRequest['checkpoint']
  readonly mountpoint: string | null
  readonly command: CommandSpec
  readonly timeout_ms: number
  readonly env: Readonly<Record<string, string>>
  readonly session: ExecutionRequest['session']
  readonly network: boolean
  readonly isolation: ExecutionRequest['isolation']
}

/** The versioned JSON of an execution; printed also when the command failed. */
export interface ExecutionEnvelope {
  readonly schema_version: 1
  readonly kind: 'proxy_exec_result'
  /** Whether the command ran to its end and said that it succeeded. */
  readonly success: boolean
  readonly request: EnvelopeRequest
  readonly result: ExecutionResult
}

/** Wraps a result for machines. */
export function executionEnvelope(request: ExecutionRequest, result: ExecutionResult): ExecutionEnvelope {
  const { vault, cwd, readonly, checkpoint, command, env, session, network, isolation } = request
  const { mountpoint = null, timeoutMs: timeout_ms } = request
  return {
    schema_version: 1,
    kind: 'proxy_exec_result',
    success: result.exit_code === 0 && !result.timed_out,
    request: {
      vault,
      cwd,
      readonly,
      checkpoint,
      mountpoint,
      command,
      timeout_ms,
      env,
      session,
      network,
      isolation,
    },
    result,
  }
}

/** What a program wrote as the envelope holds it: nothing is lost, whatever the bytes. */
export function encodeOutput(bytes: Uint8Array): OutputText {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { encoding: 'base64', data: Buffer.from(bytes).toString('base64') }
  }
}
