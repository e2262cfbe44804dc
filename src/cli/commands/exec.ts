import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Redactor } from '../../secrets/index.ts'
import type { Boundary, RunOptions, RunReport } from '../../server/boundary/index.ts'
import { approvalLines, shown } from '../../server/text/index.ts'
import type { ExecutionRequestInput } from '../../workspace/index.ts'
import { byteCount } from '../byte-count.ts'
import type { Call } from '../call.ts'
import { changeSummary } from '../change-summary.ts'
import { type Command, command } from '../command.ts'
import { commandEnvironment, ownRedactor } from '../command-environment.ts'
import { confirmShown } from '../confirm.ts'
import { describeError, errorJson, errorLine } from '../errors.ts'
import type { Lane } from '../exec-lanes.ts'
import { assertOwnVault, knownHomes, type OpenHome, withHome } from '../home-access.ts'
import { PassedOutput } from '../passed-output.ts'
import { styled } from '../terminal.ts'
import { toldEnvelope } from '../told-envelope.ts'
import { UsageError } from '../usage-error.ts'
import { fork } from './shared-options.ts'

const SESSIONS = ['auto', 'overlay', 'fuse', 'dir'] as const
const ISOLATIONS = ['auto', 'none', 'strict'] as const
/** What a shell says of a command that took too long, and of one that was stopped otherwise. */
const [EXIT_TIMED_OUT, EXIT_STOPPED] = [124, 137]
const MILLISECONDS = 1000
const MAX_LANES = 64
const NOT_KEPT =
  'pipes, sockets and devices are not, nor names and links that are not UTF-8, nor names that apply itself takes, nor what is too deep for a path, nor changes of what you may not read, nor the removal of what has any of these in it'
const STOPPED = {
  timeout: 'the command took too long and was ended; --timeout gives it more, 0 as long as it takes',
  memory:
    'the command took more memory than one may, and was ended; --memory SIZE sets another limit, none lifts it',
  disk: 'the command wrote more to the disk than one may, and was ended',
  abort: 'the command was ended',
} as const
const INTERRUPTED_NEXT = '; what the command had changed by then is kept'
/** What a diff of vaults does not tell. */
const UNSEEN = '  only owners, or permissions of directories'
const LANES_NEXT = {
  directory:
    'compare them with coppice diff <fork>, keep one with coppice apply <fork>, and coppice drop <fork> the rest',
  vault:
    'compare them with coppice diff --vault <fork>, keep one with coppice merge <fork>, and coppice drop <fork> the rest',
} as const

type ExecCall = Call<
  'fork' | 'all' | 'shell' | 'network' | 'isolation' | 'session' | 'timeout' | 'memory' | 'read-only' | 'env',
  'command'
>

export const exec: Command = command(
  {
    name: 'exec',
    summary: 'Run a command in a fork of this directory, and show what it changed',
    details: `The directory stays as it is: look at the changes with coppice diff, write them to the directory with
coppice apply, or forget them with coppice drop. With --vault the command runs in a fork of that vault instead.
What would reach the network or leave the workspace is held back; coppice policy explain says why.
Variables that look like credentials are withheld, and named; --env NAME passes one on.
Exits with the code of the command.`,
    scope: 'vault',
    options: {
      fork: { ...fork, summary: 'Run in this fork, made if there is none; a new one when absent' },
      all: { summary: 'Run it so often at once, each in a fork of its own, and compare', value: 'count' },
      shell: { summary: 'The command is one line for a shell', short: 'c' },
      network: { summary: 'Let the command reach the network; takes your approval' },
      isolation: {
        summary: 'How much of this machine is kept from the command (auto)',
        value: 'level',
        choices: ISOLATIONS,
      },
      session: { summary: 'How the fork becomes a directory (auto)', value: 'kind', choices: SESSIONS },
      timeout: { summary: 'End the command after so long; 0 for no limit (300)', value: 'seconds' },
      memory: {
        summary:
          'End the command when it takes more memory, such as 2G; none for no limit (half of the machine)',
        value: 'size',
      },
      'read-only': { summary: 'The command cannot change the workspace' },
      env: {
        summary: 'NAME=value for the command, or NAME to pass on a credential of yours; may be repeated',
        value: 'setting',
        isList: true,
      },
    },
    arguments: {
      command: {
        summary: 'The program and its arguments, after --',
        isList: true,
        isPassedOn: true,
      },
    },
    examples: [
      'coppice exec -- npm test',
      'coppice exec --fork task-1 -- make',
      "coppice exec --shell -- 'sed -i s/old/new/ src/*.ts'",
      'coppice exec --all 3 -- ./try.sh',
      'coppice exec --vault base --timeout 60 --json -- ./script.sh',
    ],
  },
  (call) =>
    withHome(
      call,
      async (open) => {
        const { Boundary } = await import('../../server/boundary/index.ts')
        const request = requestOf(call)
        const boundary = await Boundary.open(open.home, redactorOf(open, request))
        const options = optionsOf(call, open)
        const code = call.has('all')
          ? await execAll(call, open, boundary, request, options)
          : await execOnce(call, open, boundary, request, options)
        // Only now: what an interrupted command had changed is kept, and told.
        await call.output.flush()
        call.terminal.signal.throwIfAborted()
        return code
      },
      { create: true },
    ),
)

function exitCodeOf({ result: { exit_code, timed_out } }: RunReport): number {
  return exit_code ?? (timed_out ? EXIT_TIMED_OUT : EXIT_STOPPED)
}

function requestOf(call: ExecCall): ExecutionRequestInput {
  const words = call.list('command')
  if (call.has('shell') && words.length !== 1)
    throw new UsageError('--shell takes one line; put it in quotation marks')
  const timeout = call.count('timeout')
  const passedEnv = passedNames(call)
  return {
    vault: call.text('vault') ?? process.cwd(),
    command: call.has('shell') ? { shell: words[0] ?? '' } : { argv: words },
    ...(timeout !== undefined && { timeoutMs: timeout * MILLISECONDS }),
    session: call.choice('session', SESSIONS) ?? 'auto',
    isolation: call.choice('isolation', ISOLATIONS) ?? 'auto',
    network: call.has('network'),
    readonly: call.has('read-only'),
    env: Object.fromEntries(call.texts('env').filter(isSetting).map(settingOf)),
    ...(passedEnv.length > 0 && { passedEnv }),
  }
}

function isSetting(text: string): boolean {
  return text.includes('=')
}

function settingOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return [assertVariable(text.slice(0, at)), text.slice(at + 1)]
}

/** The variables that `--env NAME` passes on. UsageError for one that is not set. */
function passedNames(call: ExecCall): string[] {
  const names = call.texts('env').filter((text) => !isSetting(text))
  for (const name of names.map(assertVariable)) {
    if (process.env[name] === undefined) throw new UsageError(`there is no variable '${name}' to pass on`)
  }
  return names
}

function assertVariable(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new UsageError(`--env is NAME or NAME=value, and '${name}' is no name of a variable`)
}

/** The names of the variables that a command does not get. */
function withheldNames(call: ExecCall, { env = {} }: ExecutionRequestInput): string[] {
  return commandEnvironment(passedNames(call)).withheld.filter((name) => env[name] === undefined)
}

function optionsOf(call: ExecCall, { ctx, path }: OpenHome): RunOptions {
  const { signal, in: input } = call.terminal
  const { signal: _signal, ...by } = ctx
  const named = call.text('fork')
  return {
    fork: named === undefined ? undefined : assertOwnVault(named),
    env: commandEnvironment(passedNames(call)).env,
    userHome: homedir(),
    hidden: knownHomes(path),
    ...memoryLimit(call),
    signal,
    by,
    ...('fd' in input && typeof input.fd === 'number' && { stdin: input.fd }),
    // With --json what it writes is in the envelope.
    ...(!call.isJson && passedOn(call)),
  }
}

function memoryLimit(call: ExecCall): Pick<RunOptions, 'memory'> {
  const size = call.text('memory')
  if (size === undefined) return {}
  return { memory: size === 'none' ? size : byteCount('memory', size) }
}

function passedOn({ terminal }: ExecCall): Pick<RunOptions, 'onOutput' | 'isHeard'> {
  const output = new PassedOutput(terminal)
  return { onOutput: output.write.bind(output), isHeard: output.isHeard.bind(output) }
}

/** What is gated is asked for where somebody can be asked. */
function askOf({ terminal }: ExecCall, count: number): RunOptions['ask'] {
  if (!terminal.canAsk) return undefined
  const often = count === 1 ? '' : ` ${count} times`
  return async (decision, request) =>
    (await confirmShown(terminal, approvalLines(request, decision), `Let it run${often}?`)) ? 'yes' : 'no'
}

async function execOnce(
  call: ExecCall,
  open: OpenHome,
  boundary: Boundary,
  request: ExecutionRequestInput,
  options: RunOptions,
): Promise<number> {
  const lines: string[] = []
  // Told also after an interruption, which has ended the command alone.
  const { signal: _signal, ...by } = open.ctx
  const onChanges: RunOptions['onChanges'] = async ({ changes, trees }) => {
    if (trees !== undefined) lines.push(...(await changeSummary(call.terminal, changes, trees, by)))
  }
  const ask = askOf(call, 1)
  const report = await boundary.run(request, { ...options, ask, ...(!call.isJson && { onChanges }) })
  const withheld = withheldNames(call, request)
  if (call.isJson)
    await call.output.value(await toldEnvelope(request, report, redactorOf(open, request), withheld))
  else {
    printWithheld(call, withheld)
    printChanges(call, report, lines)
  }
  return exitCodeOf(report)
}

/** Exits with the code of the first that failed. */
async function execAll(
  call: ExecCall,
  open: OpenHome,
  boundary: Boundary,
  request: ExecutionRequestInput,
  options: RunOptions,
): Promise<number> {
  const count = call.count('all') ?? 0
  if (count < 1 || count > MAX_LANES) throw new UsageError(`--all is between 1 and ${MAX_LANES}`)
  if (call.has('fork')) throw new UsageError('--all and --fork do not go together')
  const { runLanes } = await import('../exec-lanes.ts')
  const lanes = await runLanes(boundary, request, { ...options, ask: askOf(call, count) }, count)
  assertAnyRan(lanes)
  const withheld = withheldNames(call, request)
  if (call.isJson) await printLanesJson(call, lanes, redactorOf(open, request), withheld)
  else {
    printWithheld(call, withheld)
    await printLanes(call, lanes)
  }
  const codes = lanes.map((lane) =>
    'error' in lane ? describeError(lane.error).exitCode : exitCodeOf(lane.report),
  )
  return codes.find((code) => code !== 0) ?? 0
}

/** What keeps all of them from running in the same way is told once, as if there were one. */
function assertAnyRan(lanes: readonly Lane[]): void {
  const errors = lanes.flatMap((lane) => ('error' in lane ? [lane.error] : []))
  const messages = new Set(errors.map((error) => describeError(error).message))
  if (errors.length === lanes.length && messages.size === 1) throw errors[0]
}

async function printLanesJson(
  call: ExecCall,
  lanes: readonly Lane[],
  redactor: Redactor,
  withheld: readonly string[],
): Promise<void> {
  const told = lanes.map((lane) =>
    'error' in lane
      ? { ...errorJson(lane.error), fork: null }
      : toldEnvelope(lane.request, lane.report, redactor, withheld),
  )
  await call.output.value(await Promise.all(told))
}

/** To the messages, as what one command changed. */
async function printLanes(call: ExecCall, lanes: readonly Lane[]): Promise<void> {
  const { err, signal } = call.terminal
  const { laneTable } = await import('../exec-lanes.ts')
  const notes = lanes.flatMap((lane) => {
    const lines = 'error' in lane ? [describeError(lane.error).message] : leftOutLines(lane.report)
    return lines.map((line) => errorLine(`[${lane.number}] ${line}`))
  })
  // What an interruption kept from running has nothing to tell.
  if (!signal.aborted) err.write(notes.join(''))
  const reports = lanes.flatMap((lane) => ('report' in lane ? [lane.report] : []))
  if (reports.length > 0) err.write(`\n${laneTable(lanes).join('\n')}\n`)
  const next = LANES_NEXT[call.has('vault') ? 'vault' : 'directory']
  if (reports.some(({ fork: name }) => name !== null)) err.write(`\n${next}\n`)
}

function redactorOf({ config }: OpenHome, { env }: ExecutionRequestInput): Redactor {
  return ownRedactor(config, env)
}

function leftOutLines({ result: { left_out: leftOut = [] } }: Pick<RunReport, 'result'>): string[] {
  return leftOut.length === 0 ? [] : [`${leftOut.map(shown).join(', ')} cannot be kept: ${NOT_KEPT}`]
}

function printWithheld({ terminal }: ExecCall, names: readonly string[]): void {
  if (names.length === 0) return
  const listed = names.map(shown).join(', ')
  terminal.err.write(`coppice: withheld from the command: ${listed}; pass one on with --env NAME\n`)
}

/** What the command changed, and how to go on. To the messages: the output is the command's own. */
function printChanges(call: ExecCall, { result, fork: name }: RunReport, lines: string[]): void {
  const { err, signal } = call.terminal
  if (signal.aborted) err.write(`coppice: interrupted${name === null ? '' : INTERRUPTED_NEXT}\n`)
  else if (result.stopped !== undefined) err.write(`coppice: ${STOPPED[result.stopped]}\n`)
  for (const line of leftOutLines({ result })) err.write(`coppice: ${line}\n`)
  if (name === null) return
  const isLinked = result.vault.startsWith('/')
  const isGone = isLinked && !existsSync(result.vault)
  if (isGone) err.write(`coppice: ${shown(result.vault)} is gone; what the command changed is kept\n`)
  const hasDirectory = isLinked && !isGone
  // A fork that has a name is there for whatever comes next, and of its times nobody wants to hear.
  if (lines.length === 0 && (hasDirectory || call.has('fork'))) return
  if (lines.length === 0) lines.push(UNSEEN)
  const next = hasDirectory ? `coppice diff ${name} · coppice apply ${name}` : vaultNext(name, isGone)
  const bold = styled(call.terminal, 'bold', name)
  err.write(`\n${lines.join('\n')}\n\nin ${bold}: ${next} · coppice drop ${name}\n`)
}

/** What cannot go back where it came from can still be looked at, and taken elsewhere. */
function vaultNext(name: string, isGone: boolean): string {
  const keep = isGone ? `coppice export <directory> --vault ${name}` : `coppice merge ${name}`
  return `coppice diff --vault ${name} --patch · ${keep}`
}
