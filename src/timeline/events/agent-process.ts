import { readFileSync, readlinkSync } from 'node:fs'

/** Shells between an agent and its hook. */
const SHELL = /^(?:ba|da|z|fi|k)?sh$/
const MAX_ANCESTORS = 5
/** Index of the start time among the fields of /proc/<pid>/stat that follow the parent's number. */
const START_TIME_INDEX = 17

interface ProcessStatus {
  readonly name: string
  readonly parent: number
  /** Start time in system ticks; process numbers are reused. */
  readonly start: string
}

/**
 * Returns a text that names the agent's process: the nearest one above a hook that is no shell. Undefined if the
 * system does not say. `createProcessTag` of `machine` would need a hash, which takes a hook too long.
 */
export function findAgentProcess(hookParent: number): string | undefined {
  let pid = hookParent
  for (let step = 0; step < MAX_ANCESTORS && pid > 1; step++) {
    const status = readStatus(pid)
    if (status === undefined) return undefined
    if (!SHELL.test(status.name)) return `${pid} ${status.start} ${readScope()}`
    pid = status.parent
  }
  return undefined
}

/** Reports whether an agent has ended; false if that cannot be determined here. */
export function hasAgentEnded(agent: string): boolean {
  const [pid, start, ...scope] = agent.split(' ')
  // Numbers of another container mean other processes. After a reboot, none is left.
  const [boot, namespace] = readScope().split(' ')
  if (scope[0] !== boot) return true
  if (scope[1] !== namespace) return false
  return readStatus(Number(pid))?.start !== start
}

/** Returns the machine's boot and the process namespace, in which a process number has a meaning. */
function readScope(): string {
  return `${tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())} ${tryRead(() => readlinkSync('/proc/self/ns/pid'))}`
}

function readStatus(pid: number): ProcessStatus | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The name is in brackets and may have any characters.
  const [, name, rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text ?? '') ?? []
  const [state, parent, ...fields] = rest.split(' ')
  const start = fields[START_TIME_INDEX]
  if (name === undefined || start === undefined || state === 'Z' || state === 'X') return undefined
  return { name, parent: Number(parent), start }
}

/** Returns the result, or undefined if the system has none. */
function tryRead(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
