import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { relative } from 'node:path'
import type { BoundaryRunOptions } from '../../../boundary/index.ts'
import type { Config } from '../../../config/index.ts'
import { parseHostRule } from '../../../network/index.ts'
import type { Redactor } from '../../../secrets/index.ts'
import type { CommandSpec, ExecutionRequestInput } from '../../../workspace/index.ts'
import {
  createCommandEnvironment,
  createMaskChoice,
  createRedactor,
} from '../../access/command-environment.ts'
import { listKnownHomes, type OpenHome } from '../../access/home-access.ts'
import { type ChosenProfiles, chooseProfiles, takeUnseenProfiles } from '../../access/profile-access.ts'
import { parseByteCount } from '../../framework/parse-byte-count.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatProfileNotice } from '../../render/profile-lines.ts'
import type { RunConnection } from './run-connection.ts'
import { ISOLATIONS, type RunInvocation, SESSIONS } from './run-options.ts'

const MS_PER_SECOND = 1000
const MAX_PORT = 65_535

/** Creates the request that a command line describes: the program, and how it runs. */
export function createRunRequest(
  call: RunInvocation,
  command: CommandSpec,
  { terminal }: Pick<BoundaryRunOptions, 'terminal'>,
): ExecutionRequestInput {
  // At a terminal there is no time limit: the person can end the command.
  const timeout = call.countOption('timeout', 'seconds') ?? (terminal === undefined ? undefined : 0)
  const passedEnv = listPassedVariables(call)
  return {
    // The name of a vault, or the path of a directory.
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

/** Returns the ports of `--port`; undefined without it: then each port that opens is published. */
function parsePorts(call: RunInvocation): readonly number[] | undefined {
  const texts = call.optionValues('port')
  if (texts.length === 0) return undefined
  if (call.has('network') || call.choiceOption('isolation', ISOLATIONS) === 'none')
    throw new UsageError(
      '--port is for a command with its own network; this one uses the network of this machine',
    )
  return texts.map((text) => {
    const port = Number(text)
    if (!/^\d{1,5}$/.test(text) || port < 1 || port > MAX_PORT)
      throw new UsageError(`--port takes a number from 1 to ${MAX_PORT}, not '${text}'`)
    return port
  })
}

/** Moves a request to a directory above the working directory. The command still starts in the working directory. */
export function placeInDirectory(request: ExecutionRequestInput, directory: string): ExecutionRequestInput {
  const pathInside = relative(directory, realpathSync(process.cwd()))
  return { ...request, vault: directory, ...(pathInside !== '' && { cwd: `/${pathInside}` }) }
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
  /** True for a coding agent, by its profile. */
  readonly isAgent: boolean
  /** Variables of this process that the command does not get, since they look like credentials. */
  readonly withheld: readonly string[]
  /** Replaces secrets in what is printed. */
  readonly redactor: Redactor
}

/** Prepares a run: its options, with what the profiles of the program give it, and its environment. Prints new profiles. */
export async function prepareRun(
  call: RunInvocation,
  home: OpenHome,
  request: ExecutionRequestInput,
  connection: RunConnection,
): Promise<PreparedRun> {
  const directory = request.vault.startsWith('/') ? request.vault : undefined
  const chosen = await chooseProfiles(home.path, request, call.optionValues('with'), directory)
  printNewProfiles(call, home, chosen)
  const { env, withheld } = createCommandEnvironment([...listPassedVariables(call), ...chosen.env])
  return {
    request: { ...request, command: chosen.command },
    options: { ...createBoundaryOptions(call, home, chosen), ...connection, env, ports: parsePorts(call) },
    isAgent: isAgent(chosen),
    withheld: withheld.filter((name) => request.env?.[name] === undefined),
    redactor: createRedactor(home.config, request.env),
  }
}

/** Prints what each profile gives to the command, if it is new or has changed since it was last used. */
function printNewProfiles(
  { terminal }: RunInvocation,
  { path }: OpenHome,
  { profiles }: ChosenProfiles,
): void {
  for (const profile of takeUnseenProfiles(path, profiles))
    terminal.err.write(`coppice: ${formatProfileNotice(profile).join('\n')}\n`)
}

/** Parses the hosts of `--allow-host`. UsageError where hosts cannot be limited, EINVAL for an invalid one. */
function parseAllowedHosts(call: RunInvocation): NonNullable<BoundaryRunOptions['allowedHosts']> {
  const hosts = call.optionValues('allow-host')
  if (hosts.length > 0 && call.choiceOption('isolation', ISOLATIONS) === 'none')
    throw new UsageError('--allow-host needs isolation; leave out --isolation none')
  if (hosts.length > 0 && call.has('network'))
    throw new UsageError('--network allows every host; leave out --network or --allow-host')
  return hosts.map(parseHostRule)
}

function createBoundaryOptions(
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

/** Reports whether a command sees placeholders. Without an option or setting, agents do and other commands do not. */
function isMasked(call: RunInvocation, { secrets = {} }: Config, chosen: ChosenProfiles): boolean {
  if (call.has('mask') && call.has('no-mask'))
    throw new UsageError('--mask and --no-mask exclude each other; leave one out')
  if (call.has('mask') || call.has('no-mask')) return call.has('mask')
  return isAgent(chosen) ? (secrets.mask_agents ?? true) : (secrets.mask_commands ?? false)
}

/** Reports whether the program of a command is a coding agent: those have a profile that masks secrets. */
function isAgent({ profiles }: ChosenProfiles): boolean {
  return profiles.some(({ mask }) => mask)
}

function parseMemoryLimit(call: RunInvocation): Pick<BoundaryRunOptions, 'memory'> {
  const size = call.option('memory')
  if (size === undefined) return {}
  return { memory: size === 'none' ? size : parseByteCount('memory', size) }
}
