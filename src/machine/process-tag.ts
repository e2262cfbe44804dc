import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Where the system does not tell when a process began. */
const UNKNOWN_START = '0'
const MACHINE_DIGITS = 8
/** Fewer will do: a boot that is taken for another has no such process, so the answer is the same. */
const BOOT_DIGITS = 6
const NAMESPACE_DIGITS = 6
const NONCE_BYTES = 5

/** Machine, boot and process namespace; process; its beginning; nonce. */
const TAG_PATTERN = new RegExp(
  `^(?<machine>[0-9a-f]{${MACHINE_DIGITS}})(?<boot>[0-9a-f]{${BOOT_DIGITS}})` +
    `(?<namespace>[0-9a-f]{${NAMESPACE_DIGITS}})-(?<pid>\\d{1,10})-(?<start>\\d+)-[0-9a-f]{${2 * NONCE_BYTES}}$`,
)

/** Where a process runs, as far as others can tell its number from that of another. */
interface MachineIdentity {
  readonly machine: string
  /** Which start of the machine. */
  readonly boot: string
  /** In which space of process numbers: a container has its own. */
  readonly namespace: string
}

/** The process that made something, as the mark in its name tells. */
export interface ProcessIdentity extends MachineIdentity {
  readonly pid: number
  /** When the process began, in the system's own count. */
  readonly start: string
}

let ownTagPrefix: string | undefined

/**
 * A mark for something this process makes, unlike that of anything else ever made. Letters, digits and hyphens, at
 * most 51: the name of a vault has 64, and says more than whose it is.
 */
export function createProcessTag(): string {
  const { machine, boot, namespace } = getMachineIdentity()
  ownTagPrefix ??= `${machine}${boot}${namespace}-${process.pid}-${readProcessStatus(process.pid)?.start ?? UNKNOWN_START}`
  return `${ownTagPrefix}-${randomBytes(NONCE_BYTES).toString('hex')}`
}

/** Who made something by its mark; undefined if it is no mark of ours. */
export function parseProcessTag(mark: string): ProcessIdentity | undefined {
  const { machine, boot, namespace, pid, start } = TAG_PATTERN.exec(mark)?.groups ?? {}
  if (machine === undefined || boot === undefined || namespace === undefined) return undefined
  if (pid === undefined || start === undefined) return undefined
  return { machine, boot, namespace, pid: Number(pid), start }
}

/** Whether a process is over; undefined if that cannot be known from here. */
export function hasExited({ machine, boot, namespace, pid, start }: ProcessIdentity): boolean | undefined {
  if (machine !== getMachineIdentity().machine) return undefined
  // No process outlives its machine.
  if (boot !== getMachineIdentity().boot) return true
  if (namespace !== getMachineIdentity().namespace) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Another user's process may not be signalled, and lives.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
  const status = readProcessStatus(pid)
  if (status === undefined) return start === UNKNOWN_START ? undefined : false
  // A number is given again, and a process that was killed has its number until somebody has noticed.
  return status.start !== start || status.state === 'Z' || status.state === 'X'
}

/** Whether something is the leftover of a process that is known to be over. What has no mark of ours is none. */
export function isStaleTag(mark: string): boolean {
  const maker = parseProcessTag(mark)
  return maker !== undefined && hasExited(maker) === true
}

let machineIdentity: MachineIdentity | undefined

function getMachineIdentity(): MachineIdentity {
  machineIdentity ??= readMachineIdentity()
  return machineIdentity
}

function readMachineIdentity(): MachineIdentity {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ?? ''
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  const id = tryRead(() => readFileSync('/etc/machine-id', 'utf8')) ?? ''
  // Images have none, or an empty one. A name alone may be that of two machines, so each boot counts as another then.
  const identity = /^[0-9a-f]{32}\s*$/.test(id) ? id : boot
  return {
    machine: hashDigits(`${hostname()}\n${identity}`, MACHINE_DIGITS),
    boot: hashDigits(boot, BOOT_DIGITS),
    namespace: hashDigits(namespace, NAMESPACE_DIGITS),
  }
}

function hashDigits(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

/** What Linux tells of a process: a name in brackets, which may hold anything, and then fields between spaces. */
function readProcessStatus(pid: number): { readonly state: string; readonly start: string } | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const [state, start] = [fields[0], fields[19]]
  return state === undefined || start === undefined ? undefined : { state, start }
}

/** What the system answers, or undefined where it has none. */
function tryRead(ask: () => string): string | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
