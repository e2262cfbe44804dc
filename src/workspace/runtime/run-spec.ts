import { defaultLimits, getHostSupport, limitMemory } from '../isolation/index.ts'
import type { CommandSpec, ExecutionRequest } from '../policy/index.ts'
import type { CommandSession, RunningSession, RunSpec } from '../session/index.ts'
import type { ExecuteOptions } from './execute-options.ts'
import type { ExecutionNetwork } from './execution-network.ts'
import { createIsolation } from './open-command-session.ts'

/** Parts of a run beside its request and options. */
export interface RunParts {
  readonly session: CommandSession
  readonly network: ExecutionNetwork
  readonly forkName: string | undefined
  /** PATH of a command to which a rule grants the network. */
  readonly hostPath: string | undefined
  readonly beforeCommand: () => Promise<void>
}

/** Returns how a session runs the command of a request: its environment, isolation and limits. */
export function createRunSpec(
  request: ExecutionRequest,
  options: ExecuteOptions,
  { session, network, forkName, hostPath, beforeCommand }: RunParts,
): RunSpec {
  const { command, cwd, env, timeoutMs, readonly: isReadonly } = request
  const { memory, onStart, onOutput, isHeard, signal, terminal } = options
  const stdin = request.stdin ?? options.stdin
  // `cd -` would lead to the user's previous directory, outside of the session.
  const { OLDPWD: _before, ...inherited } = options.env ?? {}
  return {
    command: replaceProgram(command, options.program),
    cwd,
    env: {
      ...network.defaults,
      ...inherited,
      ...network.env,
      ...(hostPath !== undefined && { PATH: hostPath }),
      ...env,
      COPPICE_VAULT: request.vault,
      COPPICE_WORKSPACE: session.path,
      ...(forkName !== undefined && { COPPICE_FORK: forkName }),
    },
    ...(stdin !== undefined && { stdin }),
    ...(terminal !== undefined && { terminal }),
    timeoutMs,
    isReadonly,
    isolation: { ...createIsolation(request, options), ...network.plan },
    limits: limitMemory(options.limits ?? defaultLimits, memory),
    beforeCommand,
    ...(onStart !== undefined && { onStart: (pid) => onStart(describeRunning(session, pid)) }),
    ...(onOutput !== undefined && { onOutput }),
    ...(isHeard !== undefined && { isHeard }),
    ...(signal !== undefined && { signal }),
  }
}

function describeRunning(session: CommandSession, pid: number): RunningSession {
  const support = getHostSupport()
  return { ...session.describe(), pid, ...(support !== undefined && { support }) }
}

/**
 * Replaces the first word of a command by the path of its program. One of the same name in the workspace must not take
 * the place of the one that was found outside of it.
 */
function replaceProgram(command: CommandSpec, program: string | undefined): CommandSpec {
  if (program === undefined || !('argv' in command)) return command
  return { argv: [program, ...command.argv.slice(1)] }
}
