import type { NetworkUse } from '../../network/index.ts'
import type { ExecutionDecision } from './execution-decision.ts'
import type { CommandSpec, ExecutionRequest } from './execution-request.ts'

/**
 * Paths of the workspace that a command changed, each list sorted. A path with a slash at its end is a directory that is
 * new or deleted as a whole, with a hundred files or more.
 */
export interface ChangedFiles {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
  /** Number of files in each such directory; absent if there is none. */
  readonly collapsed?: Readonly<Record<string, number>>
}

/** Output of a program: text, or base64 where it is not UTF-8. */
export type OutputText = string | { readonly encoding: 'base64'; readonly data: string }

/** Result of a request. The names are those of the envelope. */
export interface ExecutionResult {
  readonly vault: string
  readonly mountpoint: string
  readonly cwd: string
  readonly command: CommandSpec
  readonly stdout: OutputText
  readonly stderr: OutputText
  /** Null after a signal. */
  readonly exit_code: number | null
  readonly duration_ms: number
  readonly readonly: boolean
  /** Name of the checkpoint taken before the run, if any. */
  readonly checkpoint: string | null
  readonly changed_files: ChangedFiles
  /** Files that the command made setuid or setgid; absent if there are none. */
  readonly setuid_files?: readonly string[]
  /**
   * Paths that cannot be kept: pipes, sockets, devices, names that are not UTF-8 or that `apply` reserves,
   * paths that are too long, and changes of files that the user may not read.
   */
  readonly left_out?: readonly string[]
  /** True if output exceeded the limit: only its beginning is here. */
  readonly truncated?: boolean
  readonly decision: ExecutionDecision
  readonly timed_out: boolean
  /** Reason for which the command was stopped, if it was: time, an abort, disk space, memory. */
  readonly stopped?: 'timeout' | 'abort' | 'disk' | 'memory'
  readonly session: 'overlay' | 'fuse' | 'dir'
  /** Hosts that the command reached or tried to reach; absent where no host was allowed. */
  readonly network?: readonly NetworkUse[]
}

/** Request in the envelope: normalised, without standard input. */
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
  /** Hosts that the request asked for; absent if it asked for none. */
  readonly hosts?: readonly string[]
  readonly isolation: ExecutionRequest['isolation']
}

/** Versioned JSON of an execution; printed also when the command failed. */
export interface ExecutionEnvelope {
  readonly schema_version: 1
  readonly kind: 'proxy_exec_result'
  /** True if the command ran to its end and exited with 0. */
  readonly success: boolean
  readonly request: EnvelopeRequest
  readonly result: ExecutionResult
}

/** Wraps a result in its envelope. */
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
      ...(request.hosts !== undefined && { hosts: request.hosts }),
      isolation,
    },
    result,
  }
}

/** Encodes output for the envelope without loss. */
export function encodeOutput(bytes: Uint8Array): OutputText {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { encoding: 'base64', data: Buffer.from(bytes).toString('base64') }
  }
}
