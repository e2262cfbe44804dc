import type { Limits } from './plan.ts'
import { findTool } from './tools.ts'
import { foundOnce, type Trial, tryOut } from './trial.ts'

const TRIED = { memoryBytes: 2 ** 30, processes: 100 } as const

/** Says whether the process is where the limits are: a manager that was not given a controller leaves them out. */
const LOOK = `at=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
[ "$(cat "$at/memory.max")" = ${TRIED.memoryBytes} ] && [ "$(cat "$at/pids.max")" = ${TRIED.processes} ] ||
{ echo 'the memory and pids controllers are not delegated to this user' >&2; exit 1; }`

/**
 * The words before others that limit what all their processes use together: the system's manager makes a control group
 * for them. It becomes what follows it, so who starts it is still the parent.
 */
export function grouped({ memoryBytes, processes }: Partial<Limits>): string[] {
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
export async function groupingWords(limits: Limits): Promise<string[]> {
  return limits.memoryBytes !== undefined && (await tryControlGroup()).works ? grouped(limits) : []
}

/** Whether commands can be limited as a whole on this host; found out once. */
export const tryControlGroup: () => Promise<Trial> = foundOnce(probe)

async function probe(): Promise<Trial> {
  if ((await findTool('systemd-run')) === undefined)
    return { works: false, reason: 'systemd-run is not installed' }
  return tryOut([...grouped(TRIED), 'sh', '-c', LOOK])
}
