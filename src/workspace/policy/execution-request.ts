import { formatHostRule, parseHostRule } from '../../network/index.ts'
import { isVfsError, VfsError } from '../../vfs/index.ts'

/** Command to run: a program with its arguments, which is preferred, or a line for a shell. */
export type CommandSpec = { readonly argv: readonly string[] } | { readonly shell: string }

const checkpointModes = ['auto', 'always', 'never'] as const
const sessionKinds = ['auto', 'overlay', 'fuse', 'dir'] as const
const isolationLevels = ['none', 'auto', 'strict'] as const

/** Request to the execution boundary. */
export interface ExecutionRequest {
  readonly vault: string
  /** Absolute path from the root of the workspace. */
  readonly cwd: string
  /** The command gets a workspace it cannot change. */
  readonly readonly: boolean
  readonly checkpoint: (typeof checkpointModes)[number]
  /** Path at which the workspace appears on this machine; chosen by the session when absent. */
  readonly mountpoint?: string
  readonly command: CommandSpec
  /** Time limit of the command; 0 for none. */
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  /** Names of the caller's variables, credentials among them, that the command gets as well. */
  readonly passedEnv?: readonly string[]
  readonly stdin?: string | Uint8Array
  readonly session: (typeof sessionKinds)[number]
  /** True if the command may reach the network. */
  readonly network: boolean
  /** Hosts that the command asks for, in place of the whole network: `NAME[:PORT]` or `*.NAME[:PORT]`. */
  readonly hosts?: readonly string[]
  readonly isolation: (typeof isolationLevels)[number]
}

/** Request as a caller writes it: absent fields get defaults. */
export type ExecutionRequestInput = Pick<ExecutionRequest, 'vault' | 'command'> & Partial<ExecutionRequest>

const DEFAULT_TIMEOUT_MS = 300_000
/** Longest delay of a timer of Node. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
const ENVIRONMENT_NAME = /^[A-Za-z_]\w*$/

/** Returns the whole request, with its defaults. Throws EINVAL, which names the invalid field. */
export function executionRequest(input: ExecutionRequestInput): ExecutionRequest {
  const request: ExecutionRequest = {
    cwd: '/',
    readonly: false,
    checkpoint: 'auto',
    timeoutMs: DEFAULT_TIMEOUT_MS,
    env: {},
    session: 'auto',
    network: false,
    isolation: 'auto',
    ...input,
  }
  assertPaths(request)
  assertCommand(request.command)
  assertChoices(request)
  assertProcess(request)
  return request.hosts === undefined ? request : { ...request, hosts: normalizeHosts(request.hosts) }
}

function normalizeHosts(hosts: readonly string[]): string[] {
  if (!Array.isArray(hosts) || !hosts.every(isText)) throwInvalid('hosts', 'must be a list of host names')
  return hosts.map((host) => {
    try {
      return formatHostRule(parseHostRule(host))
    } catch (error) {
      throw isVfsError(error) ? throwInvalid('hosts', `cannot be used: ${error.detail}`) : error
    }
  })
}

function assertPaths({ vault, cwd, mountpoint }: ExecutionRequest): void {
  if (typeof vault !== 'string' || vault === '') throwInvalid('vault', 'must be the name of a vault')
  if (!isPath(cwd)) throwInvalid('cwd', 'must be an absolute path in the workspace, without . or ..')
  if (mountpoint !== undefined && !isPath(mountpoint)) {
    throwInvalid('mountpoint', 'must be an absolute path of this machine, without . or ..')
  }
}

function assertCommand(command: CommandSpec): void {
  if (typeof command !== 'object' || command === null)
    throwInvalid('command', 'must be { argv } or { shell }')
  if ('argv' in command === 'shell' in command)
    throwInvalid('command', 'must be either { argv } or { shell }')
  if ('shell' in command) {
    if (!isText(command.shell) || command.shell.trim() === '')
      throwInvalid('command.shell', 'must be a line to run')
    return
  }
  const { argv } = command
  if (!Array.isArray(argv) || !argv.every(isText) || !argv[0]) {
    throwInvalid('command.argv', 'must be a program and its arguments, each a string without NUL')
  }
}

function assertChoices(request: ExecutionRequest): void {
  const { checkpoint, session, isolation, readonly, network } = request
  if (!checkpointModes.includes(checkpoint))
    throwInvalid('checkpoint', `must be one of ${checkpointModes.join(', ')}`)
  if (!sessionKinds.includes(session)) throwInvalid('session', `must be one of ${sessionKinds.join(', ')}`)
  if (!isolationLevels.includes(isolation))
    throwInvalid('isolation', `must be one of ${isolationLevels.join(', ')}`)
  if (typeof readonly !== 'boolean') throwInvalid('readonly', 'must be true or false')
  if (typeof network !== 'boolean') throwInvalid('network', 'must be true or false')
}

function assertProcess({ timeoutMs, env, passedEnv = [], stdin }: ExecutionRequest): void {
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 0 || timeoutMs > MAX_TIMEOUT_MS) {
    throwInvalid(
      'timeoutMs',
      `must be a whole number of milliseconds up to ${MAX_TIMEOUT_MS}, or 0 for no limit`,
    )
  }
  if (typeof env !== 'object' || env === null) throwInvalid('env', 'must be an object of strings')
  for (const [name, value] of Object.entries(env)) {
    if (!ENVIRONMENT_NAME.test(name)) throwInvalid('env', `has an invalid name: ${JSON.stringify(name)}`)
    if (!isText(value)) throwInvalid(`env.${name}`, 'must be a string without NUL')
  }
  if (!Array.isArray(passedEnv) || !passedEnv.every((name) => isText(name) && ENVIRONMENT_NAME.test(name))) {
    throwInvalid('passedEnv', 'must be a list of variable names')
  }
  if (stdin !== undefined && typeof stdin !== 'string' && !(stdin instanceof Uint8Array)) {
    throwInvalid('stdin', 'must be text or bytes')
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function isPath(value: unknown): value is string {
  return isText(value) && (value === '/' || /^(?:\/(?!\.?\.?(?:\/|$))[^/]+)+$/.test(value))
}

function throwInvalid(field: string, problem: string): never {
  throw new VfsError('EINVAL', '/', { op: 'exec', detail: `${field} ${problem}` })
}
