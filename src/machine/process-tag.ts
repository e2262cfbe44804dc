import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isErrno } from './is-errno.ts'
import { createRandomBytes } from './random-bytes.ts'
import { computeShortDigest } from './short-digest.ts'

/** Start time if the system does not report one. */
const UNKNOWN_START = '0'
const MACHINE_DIGITS = 8
/** Fewer suffice: if two boots have the same digits, the process is looked for and not found. */
const BOOT_DIGITS = 6
const NAMESPACE_DIGITS = 6
const NONCE_BYTES = 5
/** Number of nonces of one call of the random generator, which takes as long for a single one. */
const NONCES_AT_ONCE = 256

/** Machine, boot and process namespace; process number; start time; nonce. */
const TAG_PATTERN = new RegExp(
  `^(?<machine>[0-9a-f]{${MACHINE_DIGITS}})(?<boot>[0-9a-f]{${BOOT_DIGITS}})` +
    `(?<namespace>[0-9a-f]{${NAMESPACE_DIGITS}})-(?<pid>\\d{1,10})-(?<start>\\d+)-[0-9a-f]{${2 * NONCE_BYTES}}$`,
)

/** Scope within which process numbers are unique: machine, boot and namespace. */
interface MachineIdentity {
  readonly machine: string
  /** Id of the current boot. */
  readonly boot: string
  /** Process namespace; a container has its own. */
  readonly namespace: string
}

/** A process, as parsed from its tag. */
export interface ProcessIdentity extends MachineIdentity {
  readonly pid: number
  /** Start time of the process, in system ticks since the boot; `UNKNOWN_START` without one. */
  readonly start: string
}

let ownTagPrefix: string | undefined

/**
 * Creates a unique tag that names this process: letters, digits and hyphens, at most 51. It must leave room for more
 * in the name of a vault, which has at most 64 characters.
 */
export function createProcessTag(): string {
  ownTagPrefix ??= createTagPrefix(process.pid)
  return `${ownTagPrefix}-${takeNonce()}`
}

/** Creates a unique tag that names a child of this process. */
export function createChildTag(pid: number): string {
  return `${createTagPrefix(pid)}-${takeNonce()}`
}

function createTagPrefix(pid: number): string {
  const { machine, boot, namespace } = getMachineIdentity()
  return `${machine}${boot}${namespace}-${pid}-${readProcessStatus(pid)?.start ?? UNKNOWN_START}`
}

let nonces = ''

function takeNonce(): string {
  if (nonces === '') nonces = createRandomBytes(NONCE_BYTES * NONCES_AT_ONCE).toString('hex')
  const nonce = nonces.slice(0, 2 * NONCE_BYTES)
  nonces = nonces.slice(2 * NONCE_BYTES)
  return nonce
}

/** Parses a tag; undefined for any other text. */
export function parseProcessTag(tag: string): ProcessIdentity | undefined {
  const { machine, boot, namespace, pid, start } = TAG_PATTERN.exec(tag)?.groups ?? {}
  if (machine === undefined || boot === undefined || namespace === undefined) return undefined
  if (pid === undefined || start === undefined) return undefined
  return { machine, boot, namespace, pid: Number(pid), start }
}

/** Reports whether a process has ended; undefined if that cannot be determined here. */
export function hasExited({ machine, boot, namespace, pid, start }: ProcessIdentity): boolean | undefined {
  if (machine !== getMachineIdentity().machine) return undefined
  // No process survives a reboot.
  if (boot !== getMachineIdentity().boot) return true
  if (namespace !== getMachineIdentity().namespace) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: a process of another user is alive.
    return isErrno(error, 'ESRCH')
  }
  const status = readProcessStatus(pid)
  if (status === undefined) return start === UNKNOWN_START ? undefined : false
  // Numbers are reused, and a killed process keeps its number until its parent has waited for it.
  return status.start !== start || status.state === 'Z' || status.state === 'X'
}

/** Reports whether the process of a tag has exited. False for any other text, and if it cannot be determined here. */
export function isStaleTag(tag: string): boolean {
  const owner = parseProcessTag(tag)
  return owner !== undefined && hasExited(owner) === true
}

/**
 * Returns the number of the process of a tag if it is stopped, as by SIGSTOP or Ctrl-Z: it does nothing until it is
 * continued. Undefined otherwise, and if that cannot be determined here.
 */
export function findStoppedProcess(tag: string): number | undefined {
  const owner = parseProcessTag(tag)
  if (owner === undefined || hasExited(owner) !== false) return undefined
  const status = readProcessStatus(owner.pid)
  return status?.start === owner.start && status.state === 'T' ? owner.pid : undefined
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
  // Images have no id, or an empty one. Two machines may have the same name, so each boot then counts as a machine.
  const identity = /^[0-9a-f]{32}\s*$/.test(id) ? id : boot
  return {
    machine: hashDigits(`${hostname()}\n${identity}`, MACHINE_DIGITS),
    boot: hashDigits(boot, BOOT_DIGITS),
    namespace: hashDigits(namespace, NAMESPACE_DIGITS),
  }
}

function hashDigits(text: string, digits: number): string {
  return computeShortDigest(text).slice(0, digits)
}

/**
 * Reads state and start time of a process from Linux's `stat` line: a name in brackets with any characters, then fields
 * between spaces. Undefined if the process or `/proc` is missing.
 */
function readProcessStatus(pid: number): { readonly state: string; readonly start: string } | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const [state, start] = [fields[0], fields[19]]
  return state === undefined || start === undefined ? undefined : { state, start }
}

/** Returns the result of a read; undefined if it fails. */
function tryRead(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
