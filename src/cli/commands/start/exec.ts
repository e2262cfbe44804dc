import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Boundary, BoundaryRunOptions, RunReport } from '../../../boundary/index.ts'
import type { Redactor } from '../../../secrets/index.ts'
import { escapeName, formatApproval } from '../../../text/index.ts'
import type { ExecutionRequestInput } from '../../../workspace/index.ts'
import { createCommandEnvironment, createRedactor } from '../../access/command-environment.ts'
import { assertUserVault, listKnownHomes, type OpenHome, withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { describeError, formatErrorLine, toErrorJson } from '../../framework/errors.ts'
import { parseByteCount } from '../../framework/parse-byte-count.ts'
import { applyStyle } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatChangeSummary } from '../../render/change-summary.ts'
import { confirmAfterShowing } from '../../render/confirm.ts'
import { fork } from '../shared-options.ts'
import { createRedactedEnvelope } from './envelope-output.ts'
import type { LaneResult } from './exec-lanes.ts'
import { OutputForwarder } from './output-forwarder.ts'

const SESSIONS = ['auto', 'overlay', 'fuse', 'dir'] as const
const ISOLATIONS = ['auto', 'none', 'strict'] as const
/** What a shell says of a command that took too long, and of one that was stopped otherwise. */
const [EXIT_TIMED_OUT, EXIT_STOPPED] = [124, 137]
const MS_PER_SECOND = 1000
const MAX_LANES = 64
const LEFT_OUT_REASON =
  'pipes, sockets and devices are not, nor names and links that are not UTF-8, nor names that apply itself takes, nor what is too deep for a path, nor changes of what you may not read, nor the removal of what has any of these in it'
const STOP_MESSAGES = {
  timeout: 'the command took too long and was ended; --timeout gives it more, 0 as long as it takes',
  memory:
    'the command took more memory than one may, and was ended; --memory SIZE sets another limit, none lifts it',
  disk: 'the command wrote more to the disk than one may, and was ended',
  abort: 'the command was ended',
} as const
const INTERRUPTED_NOTE = '; what the command had changed by then is kept'
/** What a diff of vaults does not tell. */
const ATTRIBUTES_ONLY = '  only owners, or permissions of directories'
const LANE_HINTS = {
  directory:
    'compare them with coppice diff <fork>, keep one with coppice apply <fork>, and coppice drop <fork> the rest',
  vault:
    'compare them with coppice diff --vault <fork>, keep one with coppice merge <fork>, and coppice drop <fork> the rest',
} as const

type ExecInvocation = CommandInvocation<
  'fork' | 'all' | 'shell' | 'network' | 'isolation' | 'session' | 'timeout' | 'memory' | 'read-only' | 'env',
  'command'
>

export const exec: Command = defineCommand(
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
        const { Boundary } = await import('../../../boundary/index.ts')
        const request = createRequest(call)
        const boundary = await Boundary.open(open.home, createRunRedactor(open, request))
        const options = createRunOptions(call, open)
        const code = call.has('all')
          ? await execLanes(call, open, boundary, request, options)
          : await execOnce(call, open, boundary, request, options)
        // Only now: what an interrupted command had changed is kept, and told.
        await call.output.flush()
        call.terminal.signal.throwIfAborted()
        return code
      },
      { create: true },
    ),
)

function getExitCode({ result: { exit_code, timed_out } }: RunReport): number {
  return exit_code ?? (timed_out ? EXIT_TIMED_OUT : EXIT_STOPPED)
}

function createRequest(call: ExecInvocation): ExecutionRequestInput {
  const words = call.argumentList('command')
  if (call.has('shell') && words.length !== 1)
    throw new UsageError('--shell takes one line; put it in quotation marks')
  const timeout = call.countOption('timeout')
  const passedEnv = listPassedVariables(call)
  return {
    vault: call.option('vault') ?? process.cwd(),
    command: call.has('shell') ? { shell: words[0] ?? '' } : { argv: words },
    ...(timeout !== undefined && { timeoutMs: timeout * MS_PER_SECOND }),
    session: call.choiceOption('session', SESSIONS) ?? 'auto',
    isolation: call.choiceOption('isolation', ISOLATIONS) ?? 'auto',
    network: call.has('network'),
    readonly: call.has('read-only'),
    env: Object.fromEntries(call.optionValues('env').filter(isAssignment).map(parseAssignment)),
    ...(passedEnv.length > 0 && { passedEnv }),
  }
}

function isAssignment(text: string): boolean {
  return text.includes('=')
}

function parseAssignment(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return [assertVariableName(text.slice(0, at)), text.slice(at + 1)]
}

/** The variables that `--env NAME` passes on. UsageError for one that is not set. */
function listPassedVariables(call: ExecInvocation): string[] {
  const names = call.optionValues('env').filter((text) => !isAssignment(text))
  for (const name of names.map(assertVariableName)) {
    if (process.env[name] === undefined) throw new UsageError(`there is no variable '${name}' to pass on`)
  }
  return names
}

function assertVariableName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new UsageError(`--env is NAME or NAME=value, and '${name}' is no name of a variable`)
}

/** The names of the variables that a command does not get. */
function listWithheldVariables(call: ExecInvocation, { env = {} }: ExecutionRequestInput): string[] {
  return createCommandEnvironment(listPassedVariables(call)).withheld.filter(
    (name) => env[name] === undefined,
  )
}

function createRunOptions(call: ExecInvocation, { ctx, path }: OpenHome): BoundaryRunOptions {
  const { signal, in: input } = call.terminal
  const { signal: _signal, ...by } = ctx
  const named = call.option('fork')
  return {
    fork: named === undefined ? undefined : assertUserVault(named),
    env: createCommandEnvironment(listPassedVariables(call)).env,
    userHome: homedir(),
    hidden: listKnownHomes(path),
    ...parseMemoryLimit(call),
    signal,
    by,
    ...('fd' in input && typeof input.fd === 'number' && { stdin: input.fd }),
    // With --json what it writes is in the envelope.
    ...(!call.isJson && forwardOutput(call)),
  }
}

function parseMemoryLimit(call: ExecInvocation): Pick<BoundaryRunOptions, 'memory'> {
  const size = call.option('memory')
  if (size === undefined) return {}
  return { memory: size === 'none' ? size : parseByteCount('memory', size) }
}

function forwardOutput({ terminal }: ExecInvocation): Pick<BoundaryRunOptions, 'onOutput' | 'isHeard'> {
  const output = new OutputForwarder(terminal)
  return { onOutput: output.write.bind(output), isHeard: output.isOpen.bind(output) }
}

/** What is gated is asked for where somebody can be asked. */
function createApprovalPrompt({ terminal }: ExecInvocation, count: number): BoundaryRunOptions['ask'] {
  if (!terminal.canAsk) return undefined
  const often = count === 1 ? '' : ` ${count} times`
  return async (decision, request) =>
    (await confirmAfterShowing(terminal, formatApproval(request, decision), `Let it run${often}?`))
      ? 'yes'
      : 'no'
}

async function execOnce(
  call: ExecInvocation,
  open: OpenHome,
  boundary: Boundary,
  request: ExecutionRequestInput,
  options: BoundaryRunOptions,
): Promise<number> {
  const lines: string[] = []
  // Told also after an interruption, which has ended the command alone.
  const { signal: _signal, ...by } = open.ctx
  const onChanges: BoundaryRunOptions['onChanges'] = async ({ changes, trees }) => {
    if (trees !== undefined) lines.push(...(await formatChangeSummary(call.terminal, changes, trees, by)))
  }
  const ask = createApprovalPrompt(call, 1)
  const report = await boundary.run(request, { ...options, ask, ...(!call.isJson && { onChanges }) })
  const withheld = listWithheldVariables(call, request)
  if (call.isJson)
    await call.output.writeValue(
      await createRedactedEnvelope(request, report, createRunRedactor(open, request), withheld),
    )
  else {
    printWithheld(call, withheld)
    printChanges(call, report, lines)
  }
  return getExitCode(report)
}

/** Exits with the code of the first that failed. */
async function execLanes(
  call: ExecInvocation,
  open: OpenHome,
  boundary: Boundary,
  request: ExecutionRequestInput,
  options: BoundaryRunOptions,
): Promise<number> {
  const count = call.countOption('all') ?? 0
  if (count < 1 || count > MAX_LANES) throw new UsageError(`--all is between 1 and ${MAX_LANES}`)
  if (call.has('fork')) throw new UsageError('--all and --fork do not go together')
  const { runLanes } = await import('./exec-lanes.ts')
  const lanes = await runLanes(
    boundary,
    request,
    { ...options, ask: createApprovalPrompt(call, count) },
    count,
  )
  assertAnyRan(lanes)
  const withheld = listWithheldVariables(call, request)
  if (call.isJson) await printLanesJson(call, lanes, createRunRedactor(open, request), withheld)
  else {
    printWithheld(call, withheld)
    await printLanes(call, lanes)
  }
  const codes = lanes.map((lane) =>
    'error' in lane ? describeError(lane.error).exitCode : getExitCode(lane.report),
  )
  return codes.find((code) => code !== 0) ?? 0
}

/** What keeps all of them from running in the same way is told once, as if there were one. */
function assertAnyRan(lanes: readonly LaneResult[]): void {
  const errors = lanes.flatMap((lane) => ('error' in lane ? [lane.error] : []))
  const messages = new Set(errors.map((error) => describeError(error).message))
  if (errors.length === lanes.length && messages.size === 1) throw errors[0]
}

async function printLanesJson(
  call: ExecInvocation,
  lanes: readonly LaneResult[],
  redactor: Redactor,
  withheld: readonly string[],
): Promise<void> {
  const told = lanes.map((lane) =>
    'error' in lane
      ? { ...toErrorJson(lane.error), fork: null }
      : createRedactedEnvelope(lane.request, lane.report, redactor, withheld),
  )
  await call.output.writeValue(await Promise.all(told))
}

/** To the messages, as what one command changed. */
async function printLanes(call: ExecInvocation, lanes: readonly LaneResult[]): Promise<void> {
  const { err, signal } = call.terminal
  const { formatLaneTable } = await import('./exec-lanes.ts')
  const notes = lanes.flatMap((lane) => {
    const lines = 'error' in lane ? [describeError(lane.error).message] : formatLeftOut(lane.report)
    return lines.map((line) => formatErrorLine(`[${lane.number}] ${line}`))
  })
  // What an interruption kept from running has nothing to tell.
  if (!signal.aborted) err.write(notes.join(''))
  const reports = lanes.flatMap((lane) => ('report' in lane ? [lane.report] : []))
  if (reports.length > 0) err.write(`\n${formatLaneTable(lanes).join('\n')}\n`)
  const next = LANE_HINTS[call.has('vault') ? 'vault' : 'directory']
  if (reports.some(({ fork: name }) => name !== null)) err.write(`\n${next}\n`)
}

function createRunRedactor({ config }: OpenHome, { env }: ExecutionRequestInput): Redactor {
  return createRedactor(config, env)
}

function formatLeftOut({ result: { left_out: leftOut = [] } }: Pick<RunReport, 'result'>): string[] {
  return leftOut.length === 0
    ? []
    : [`${leftOut.map(escapeName).join(', ')} cannot be kept: ${LEFT_OUT_REASON}`]
}

function printWithheld({ terminal }: ExecInvocation, names: readonly string[]): void {
  if (names.length === 0) return
  const listed = names.map(escapeName).join(', ')
  terminal.err.write(`coppice: withheld from the command: ${listed}; pass one on with --env NAME\n`)
}

/** What the command changed, and how to go on. To the messages: the output is the command's own. */
function printChanges(call: ExecInvocation, { result, fork: name }: RunReport, lines: string[]): void {
  const { err, signal } = call.terminal
  if (signal.aborted) err.write(`coppice: interrupted${name === null ? '' : INTERRUPTED_NOTE}\n`)
  else if (result.stopped !== undefined) err.write(`coppice: ${STOP_MESSAGES[result.stopped]}\n`)
  for (const line of formatLeftOut({ result })) err.write(`coppice: ${line}\n`)
  if (name === null) return
  const isLinked = result.vault.startsWith('/')
  const isGone = isLinked && !existsSync(result.vault)
  if (isGone) err.write(`coppice: ${escapeName(result.vault)} is gone; what the command changed is kept\n`)
  const hasDirectory = isLinked && !isGone
  // A fork that has a name is there for whatever comes next, and of its times nobody wants to hear.
  if (lines.length === 0 && (hasDirectory || call.has('fork'))) return
  if (lines.length === 0) lines.push(ATTRIBUTES_ONLY)
  const next = hasDirectory ? `coppice diff ${name} · coppice apply ${name}` : formatVaultHint(name, isGone)
  const bold = applyStyle(call.terminal, 'bold', name)
  err.write(`\n${lines.join('\n')}\n\nin ${bold}: ${next} · coppice drop ${name}\n`)
}

/** What cannot go back where it came from can still be looked at, and taken elsewhere. */
function formatVaultHint(name: string, isGone: boolean): string {
  const keep = isGone ? `coppice export <directory> --vault ${name}` : `coppice merge ${name}`
  return `coppice diff --vault ${name} --patch · ${keep}`
}
