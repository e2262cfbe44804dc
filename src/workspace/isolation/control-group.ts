import type { CommandLimits } from './isolation-plan.ts'
import { findTool } from './isolation-tools.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

const PROBE_LIMITS = { memoryBytes: 2 ** 30, processes: 100 } as const

/** Says whether the process is where the limits are: a manager that was not given a controller leaves them out. */
const PROBE_SCRIPT = `at=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
[ "$(cat "$at/memory.max")" = ${PROBE_LIMITS.memoryBytes} ] && [ "$(cat "$at/pids.max")" = ${PROBE_LIMITS.processes} ] ||
{ echo 'the memory and pids controllers are not delegated to this user' >&2; exit 1; }`

/**
 * The words before others that limit what all their processes use together: the system's manager makes a control group
 * for them. It becomes what follows it, so who starts it is still the parent.
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

/** The words that limit a command as a whole, where this host can and somebody asks for it: it takes its time. */
export async function findGroupArgs(limits: CommandLimits): Promise<string[]> {
  return limits.memoryBytes !== undefined && (await probeControlGroup()).works ? createGroupArgs(limits) : []
}

/** Reports whether this host can limit a command as a whole; probed once. */
export const probeControlGroup: () => Promise<ProbeResult> = memoizeAsync(probe)

async function probe(): Promise<ProbeResult> {
  if ((await findTool('systemd-run')) === undefined)
    return { works: false, reason: 'systemd-run is not installed' }
  return runProbe([...createGroupArgs(PROBE_LIMITS), 'sh', '-c', PROBE_SCRIPT])
}
