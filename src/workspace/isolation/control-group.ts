import type { CommandLimits } from './isolation-plan.ts'
import { findTool } from './isolation-tools.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

const PROBE_LIMITS = { memoryBytes: 2 ** 30, processes: 100 } as const

/**
 * Fails if the limits are not in the process's control group. systemd ignores a limit whose controller it does not
 * have.
 */
const PROBE_SCRIPT = `at=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
[ "$(cat "$at/memory.max")" = ${PROBE_LIMITS.memoryBytes} ] && [ "$(cat "$at/pids.max")" = ${PROBE_LIMITS.processes} ] ||
{ echo 'the memory and pids controllers are not delegated to this user' >&2; exit 1; }`

/**
 * Returns the arguments before a command that limit all its processes together. systemd creates a control group for
 * it. `systemd-run --scope` then executes the command in its own place, so the caller stays the parent.
 */
export function createGroupArgs({ memoryBytes, processes }: Partial<CommandLimits>): string[] {
  const uid = process.getuid?.() ?? 0
  const user = uid === 0 ? [] : ['env', `XDG_RUNTIME_DIR=/run/user/${uid}`]
  const properties = [
    ...(memoryBytes === undefined ? [] : [`MemoryMax=${memoryBytes}`, 'MemorySwapMax=0']),
    ...(processes === undefined ? [] : [`TasksMax=${processes}`]),
  ]
  return [
    ...user,
    'systemd-run',
    ...(uid === 0 ? [] : ['--user']),
    ...['--scope', '--quiet', '--collect'],
    ...properties.map((property) => `--property=${property}`),
    '--',
  ]
}

/**
 * Returns the arguments that limit a command as a whole, or none. They are for commands with a memory limit alone,
 * because systemd takes time to start.
 */
export async function findGroupArgs(limits: CommandLimits): Promise<string[]> {
  return limits.memoryBytes !== undefined && (await probeControlGroup()).works ? createGroupArgs(limits) : []
}

/** Reports whether this host can limit all processes of a command together; probed once. */
export const probeControlGroup: () => Promise<ProbeResult> = memoizeAsync(probe)

async function probe(): Promise<ProbeResult> {
  if ((await findTool('systemd-run')) === undefined)
    return { works: false, reason: 'systemd-run is not installed' }
  return runProbe([...createGroupArgs(PROBE_LIMITS), 'sh', '-c', PROBE_SCRIPT])
}
