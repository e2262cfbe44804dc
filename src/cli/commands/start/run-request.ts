import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { relative } from 'node:path'
import type { BoundaryRunOptions } from '../../../boundary/index.ts'
import type { Config } from '../../../config/index.ts'
import { type PublishedPort, parseHostRule } from '../../../network/index.ts'
import type { Redactor } from '../../../secrets/index.ts'
import { formatApproval } from '../../../text/index.ts'
import type { CommandSpec, ExecutionRequestInput } from '../../../workspace/index.ts'
import {
  createCommandEnvironment,
  createMaskChoice,
  createRedactor,
} from '../../access/command-environment.ts'
import { listKnownHomes, type OpenHome } from '../../access/home-access.ts'
import { type ChosenProfiles, chooseProfiles, takeUnseenProfiles } from '../../access/profile-access.ts'
import type { CommandOption } from '../../framework/command-definition.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { findCommandTerminal } from '../../framework/command-terminal.ts'
import { parseByteCount } from '../../framework/parse-byte-count.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { confirmAfterShowing } from '../../render/confirm.ts'
import { formatProfileNotice } from '../../render/profile-lines.ts'
import { OutputForwarder } from './output-forwarder.ts'

const SESSIONS = ['auto', 'overlay', 'fuse', 'dir'] as const
const ISOLATIONS = ['auto', 'none', 'strict'] as const
const MS_PER_SECOND = 1000
const MAX_PORT = 65_535

/** Names of these options. */
export type RunOption =
  | 'network'
  | 'allow-host'
  | 'port'
  | 'isolation'
  | 'session'
  | 'timeout'
  | 'memory'
  | 'read-only'
  | 'env'
  | 'with'
  | 'mask'
  | 'no-mask'

/** Options of every command that runs a program in a session. */
export const runOptions: Readonly<Record<RunOption, CommandOption>> = {
  network: { summary: 'Let the command reach the whole network; needs your approval' },
  'allow-host': {
    summary: 'Let the command reach NAME[:PORT] or *.NAME; repeatable',
    value: 'host',
    isList: true,
  },
  port: {
    summary: 'Give only this port an address, from the start (default: each that opens); repeatable',
    value: 'port',
    isList: true,
  },
  isolation: {
    summary: 'Isolation from this machine (auto)',
    value: 'level',
    choices: ISOLATIONS,
  },
  session: { summary: 'Way to present the fork as a directory (auto)', value: 'kind', choices: SESSIONS },
  timeout: { summary: 'Time limit; 0 for none (300; none at a terminal)', value: 'seconds' },
  memory: {
    summary: 'Memory limit, such as 2G, or none (half of the machine)',
    value: 'size',
  },
  'read-only': { summary: 'Run in a read-only workspace' },
  env: {
    summary: 'Set NAME=value, or pass on your variable NAME; repeatable',
    value: 'setting',
    isList: true,
  },
  with: {
    summary: 'Also use this profile; repeatable (coppice profile list)',
    value: 'profile',
    isList: true,
  },
  mask: { summary: 'Show placeholders in place of the values of .env and similar files' },
  'no-mask': { summary: 'Show the values of .env and similar files' },
}

export type RunInvocation = CommandInvocation<RunOption, never>

/** Returns the request of a command line: the program, and the options that say how it runs. */
export function createRunRequest(
  call: RunInvocation,
  command: CommandSpec,
  { terminal }: Pick<BoundaryRunOptions, 'terminal'>,
): ExecutionRequestInput {
  // A person at a terminal ends a command that takes too long.
  const timeout = call.countOption('timeout') ?? (terminal === undefined ? undefined : 0)
  const passedEnv = listPassedVariables(call)
  return {
    vault: call.option('vault') ?? process.cwd(),
    command,
    ...(timeout !== undefined && { timeoutMs: timeout * MS_PER_SECOND }),
    session: call.choiceOption('session', SESSIONS) ?? 'auto',
    isolation: call.choiceOption('isolation', ISOLATIONS) ?? 'auto',
    network: call.has('network'),
    readonly: call.has('read-only'),
    env: Object.fromEntries(call.optionValues('env').filter(isAssignment).map(parseAssignment)),
    ...(passedEnv.length > 0 && { passedEnv }),
  }
}

/** Returns the ports that a person names; undefined for all that open. */
function parsePorts(call: RunInvocation): readonly number[] | undefined {
  const texts = call.optionValues('port')
  if (texts.length === 0) return undefined
  if (call.has('network') || call.choiceOption('isolation', ISOLATIONS) === 'none')
    throw new UsageError(
      '--port is for a command with its own network; this one opens its ports on this machine',
    )
  return texts.map((text) => {
    const port = Number(text)
    if (!/^\d{1,5}$/.test(text) || port < 1 || port > MAX_PORT)
      throw new UsageError(`--port takes a number from 1 to ${MAX_PORT}, not '${text}'`)
    return port
  })
}

/** Returns the request in a directory that contains the working directory, which stays that of the command. */
export function placeInDirectory(request: ExecutionRequestInput, directory: string): ExecutionRequestInput {
  const inside = relative(directory, realpathSync(process.cwd()))
  return { ...request, vault: directory, ...(inside !== '' && { cwd: `/${inside}` }) }
}

function isAssignment(text: string): boolean {
  return text.includes('=')
}

function parseAssignment(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return [assertVariableName(text.slice(0, at)), text.slice(at + 1)]
}

/** Lists the variables that `--env NAME` passes on. UsageError for one that is not set. */
function listPassedVariables(call: RunInvocation): string[] {
  const names = call.optionValues('env').filter((text) => !isAssignment(text))
  for (const name of names.map(assertVariableName)) {
    if (process.env[name] === undefined)
      throw new UsageError(`--env ${name}: the variable is not set; use --env ${name}=value`)
  }
  return names
}

function assertVariableName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new UsageError(`--env takes NAME or NAME=value; '${name}' is not a variable name`)
}

/** A command line that is ready to run. */
export interface PreparedRun {
  readonly request: ExecutionRequestInput
  readonly options: BoundaryRunOptions
  /** Variables that the command does not get. */
  readonly withheld: readonly string[]
  /** Removes the secrets that the command could print. */
  readonly redactor: Redactor
}

/** Adds to a request what the profiles of its program give it, and prints each of them once. */
export async function prepareRun(
  call: RunInvocation,
  open: OpenHome,
  request: ExecutionRequestInput,
  connection: RunConnection,
): Promise<PreparedRun> {
  const directory = request.vault.startsWith('/') ? request.vault : undefined
  const chosen = await chooseProfiles(open.path, request.command, call.optionValues('with'), directory)
  printNewProfiles(call, open, chosen)
  const { env, withheld } = createCommandEnvironment([...listPassedVariables(call), ...chosen.env])
  return {
    request,
    options: { ...createRunOptions(call, open, chosen), ...connection, env, ports: parsePorts(call) },
    withheld: withheld.filter((name) => request.env?.[name] === undefined),
    redactor: createRedactor(open.config, request.env),
  }
}

/** Prints what a profile gives to the command, the first time that it is used as it is now. */
function printNewProfiles(
  { terminal }: RunInvocation,
  { path }: OpenHome,
  { profiles }: ChosenProfiles,
): void {
  for (const profile of takeUnseenProfiles(path, profiles))
    terminal.err.write(`coppice: ${formatProfileNotice(profile).join('\n')}\n`)
}

/** Parses the hosts that the person allows by naming them. EINVAL for an invalid one. */
function parseAllowedHosts(call: RunInvocation): NonNullable<BoundaryRunOptions['allowedHosts']> {
  const hosts = call.optionValues('allow-host')
  if (hosts.length > 0 && call.choiceOption('isolation', ISOLATIONS) === 'none')
    throw new UsageError('--allow-host needs isolation; leave out --isolation none')
  if (hosts.length > 0 && call.has('network'))
    throw new UsageError('--network allows every host; leave out --network or --allow-host')
  return hosts.map(parseHostRule)
}

function createRunOptions(
  call: RunInvocation,
  { ctx, path, config }: OpenHome,
  chosen: ChosenProfiles,
): BoundaryRunOptions {
  const { signal: _signal, ...provenance } = ctx
  return {
    ...chosen.options,
    mask: isMasked(call, config, chosen) ? createMaskChoice(config) : undefined,
    userHome: homedir(),
    hidden: listKnownHomes(path),
    allowedHosts: [...parseAllowedHosts(call), ...chosen.hosts.map(parseHostRule)],
    ...parseMemoryLimit(call),
    signal: call.terminal.signal,
    by: provenance,
  }
}

/** Reports whether a command sees placeholders: agents do, commands that a person types do not. */
function isMasked(call: RunInvocation, { secrets = {} }: Config, { profiles }: ChosenProfiles): boolean {
  if (call.has('mask') && call.has('no-mask'))
    throw new UsageError('--mask and --no-mask exclude each other; leave one out')
  if (call.has('mask') || call.has('no-mask')) return call.has('mask')
  const isAgent = profiles.some(({ mask }) => mask)
  return isAgent ? (secrets.mask_agents ?? true) : (secrets.mask_commands ?? false)
}

/** The terminal of a command, or its input and output. */
export type RunConnection = Pick<BoundaryRunOptions, 'terminal' | 'stdin' | 'onOutput' | 'isHeard' | 'onPort'>

/** Connects a command to the terminal, or its input and output to those of this program. */
export function connectCommand(call: RunInvocation): RunConnection {
  const terminal = call.isJson ? undefined : findCommandTerminal(call.terminal)
  if (terminal === undefined) return connectStreams(call)
  return { terminal, onPort: (port) => terminal.announce(formatPort(port)) }
}

/** Connects the input and output of a command to those of this program. */
export function connectStreams(call: RunInvocation): RunConnection {
  const { in: input } = call.terminal
  return {
    ...('fd' in input && typeof input.fd === 'number' && { stdin: input.fd }),
    // With --json the envelope has the output.
    ...(!call.isJson && forwardOutput(call)),
    onPort: (port) => call.terminal.err.write(`${formatPort(port)}\n`),
  }
}

function formatPort({ port, url, address }: PublishedPort): string {
  return `coppice: port ${port} is open at ${url} (other protocols: ${address})`
}

function parseMemoryLimit(call: RunInvocation): Pick<BoundaryRunOptions, 'memory'> {
  const size = call.option('memory')
  if (size === undefined) return {}
  return { memory: size === 'none' ? size : parseByteCount('memory', size) }
}

function forwardOutput({ terminal }: RunInvocation): Pick<BoundaryRunOptions, 'onOutput' | 'isHeard'> {
  const output = new OutputForwarder(terminal)
  return { onOutput: output.write.bind(output), isHeard: output.isOpen.bind(output) }
}

/** Creates the question for a gated command; none without a terminal. */
export function createApprovalOptions(
  { terminal }: RunInvocation,
  count: number,
): Pick<BoundaryRunOptions, 'ask' | 'asksToReadOutside'> {
  if (!terminal.canAsk) return {}
  const times = count === 1 ? '' : ` ${count} times`
  return {
    asksToReadOutside: true,
    ask: async (decision, request) =>
      (await confirmAfterShowing(terminal, formatApproval(request, decision), `Let it run${times}?`))
        ? 'yes'
        : 'no',
  }
}
