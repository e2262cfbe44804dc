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
/** Exit codes of a shell for a command that timed out, and for one that was killed. */
const [EXIT_TIMED_OUT, EXIT_STOPPED] = [124, 137]
const MS_PER_SECOND = 1000
const MAX_LANES = 64
const LEFT_OUT_REASON =
  'a fork holds no pipes, sockets and devices; no names or links that are not UTF-8; no names reserved for apply; no paths that are too long; no changes of files that you may not read; and no removal of a directory that contains any of these'
const STOP_MESSAGES = {
  timeout: 'the command was stopped at its time limit; --timeout SECONDS sets another, 0 none',
  memory: 'the command was stopped at its memory limit; --memory SIZE sets another, none lifts it',
  disk: 'the command was stopped at its disk limit',
  abort: 'the command was stopped',
} as const
const INTERRUPTED_NOTE = '; the changes so far are kept'
/** Changes that a diff of vaults does not list. */
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
    summary: 'Run a command in a fork of this directory',
    details: `The directory stays unchanged. Then: coppice diff shows the changes, coppice apply writes them to the directory,
coppice drop deletes them. With --vault the command runs in a fork of that vault instead.
Policy holds back commands that reach the network or leave the workspace; coppice policy explain says why.
Variables that look like credentials are withheld and named; --env NAME passes one on.
Exits with the code of the command.`,
    scope: 'vault',
    options: {
      fork: { ...fork, summary: 'Run in this fork, created if missing (default: a new fork)' },
      all: { summary: 'Run N copies in parallel, each in its own fork', value: 'count' },
      shell: { summary: 'Treat the one argument as a shell command line', short: 'c' },
      network: { summary: 'Let the command reach the network; needs your approval' },
      isolation: {
        summary: 'Isolation from this machine (auto)',
        value: 'level',
        choices: ISOLATIONS,
      },
      session: { summary: 'Way to present the fork as a directory (auto)', value: 'kind', choices: SESSIONS },
      timeout: { summary: 'Time limit; 0 for none (300)', value: 'seconds' },
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
    },
    arguments: {
      command: {
        summary: 'The program and its arguments, after --',
        isList: true,
        isForOtherProgram: true,
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
        // Flush only now: the changes of an interrupted command are kept and printed.
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
    throw new UsageError('--shell takes one argument; put the command in quotation marks')
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

/** Lists the variables that `--env NAME` passes on. UsageError for one that is not set. */
function listPassedVariables(call: ExecInvocation): string[] {
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

/** Lists the variables withheld from a command. */
function listWithheldVariables(call: ExecInvocation, { env = {} }: ExecutionRequestInput): string[] {
  return createCommandEnvironment(listPassedVariables(call)).withheld.filter(
    (name) => env[name] === undefined,
  )
}

function createRunOptions(call: ExecInvocation, { ctx, path }: OpenHome): BoundaryRunOptions {
  const { signal, in: input } = call.terminal
  const { signal: _signal, ...provenance } = ctx
  const named = call.option('fork')
  return {
    fork: named === undefined ? undefined : assertUserVault(named),
    env: createCommandEnvironment(listPassedVariables(call)).env,
    userHome: homedir(),
    hidden: listKnownHomes(path),
    ...parseMemoryLimit(call),
    signal,
    by: provenance,
    ...('fd' in input && typeof input.fd === 'number' && { stdin: input.fd }),
    // With --json the envelope has the output.
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

/** Creates the question for a gated command; undefined without a terminal. */
function createApprovalPrompt({ terminal }: ExecInvocation, count: number): BoundaryRunOptions['ask'] {
  if (!terminal.canAsk) return undefined
  const times = count === 1 ? '' : ` ${count} times`
  return async (decision, request) =>
    (await confirmAfterShowing(terminal, formatApproval(request, decision), `Let it run${times}?`))
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
  // Without the signal: an interruption ends the command, not this summary.
  const { signal: _signal, ...provenance } = open.ctx
  const onChanges: BoundaryRunOptions['onChanges'] = async ({ changes, trees }) => {
    if (trees !== undefined)
      lines.push(...(await formatChangeSummary(call.terminal, changes, trees, provenance)))
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

/** Runs the lanes and returns the exit code of the first that failed. */
async function execLanes(
  call: ExecInvocation,
  open: OpenHome,
  boundary: Boundary,
  request: ExecutionRequestInput,
  options: BoundaryRunOptions,
): Promise<number> {
  const count = call.countOption('all') ?? 0
  if (count < 1 || count > MAX_LANES)
    throw new UsageError(`--all takes a number from 1 to ${MAX_LANES}, not ${count}`)
  if (call.has('fork')) throw new UsageError('--all and --fork exclude each other; leave one out')
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

/** Throws once the error that kept every lane from running. */
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
  const envelopes = lanes.map((lane) =>
    'error' in lane
      ? { ...toErrorJson(lane.error), fork: null }
      : createRedactedEnvelope(lane.request, lane.report, redactor, withheld),
  )
  await call.output.writeValue(await Promise.all(envelopes))
}

/** Prints to standard error, as for one command. */
async function printLanes(call: ExecInvocation, lanes: readonly LaneResult[]): Promise<void> {
  const { err, signal } = call.terminal
  const { formatLaneTable } = await import('./exec-lanes.ts')
  const notes = lanes.flatMap((lane) => {
    const lines = 'error' in lane ? [describeError(lane.error).message] : formatLeftOut(lane.report)
    return lines.map((line) => formatErrorLine(`[${lane.number}] ${line}`))
  })
  // A lane that an interruption kept from running has no notes.
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
  return leftOut.length === 0 ? [] : [`not kept: ${leftOut.map(escapeName).join(', ')}; ${LEFT_OUT_REASON}`]
}

function printWithheld({ terminal }: ExecInvocation, names: readonly string[]): void {
  if (names.length === 0) return
  const listed = names.map(escapeName).join(', ')
  terminal.err.write(`coppice: withheld from the command: ${listed}; pass one on with --env NAME\n`)
}

/** Prints the changes and the next steps to standard error: standard output is the command's own. */
function printChanges(call: ExecInvocation, { result, fork: name }: RunReport, lines: string[]): void {
  const { err, signal } = call.terminal
  if (signal.aborted) err.write(`coppice: interrupted${name === null ? '' : INTERRUPTED_NOTE}\n`)
  else if (result.stopped !== undefined) err.write(`coppice: ${STOP_MESSAGES[result.stopped]}\n`)
  for (const line of formatLeftOut({ result })) err.write(`coppice: ${line}\n`)
  if (name === null) return
  const isLinked = result.vault.startsWith('/')
  const isGone = isLinked && !existsSync(result.vault)
  if (isGone)
    err.write(
      `coppice: ${escapeName(result.vault)} was deleted meanwhile; the changes of the command are kept\n`,
    )
  const hasDirectory = isLinked && !isGone
  // A named fork stays for later commands; changed times alone are not worth a message.
  if (lines.length === 0 && (hasDirectory || call.has('fork'))) return
  if (lines.length === 0) lines.push(ATTRIBUTES_ONLY)
  const next = hasDirectory ? `coppice diff ${name} · coppice apply ${name}` : formatVaultHint(name, isGone)
  const bold = applyStyle(call.terminal, 'bold', name)
  err.write(`\n${lines.join('\n')}\n\nin ${bold}: ${next} · coppice drop ${name}\n`)
}

/** Formats the next steps for a fork without a directory: inspect it, merge it or export it. */
function formatVaultHint(name: string, isGone: boolean): string {
  const keep = isGone ? `coppice export <directory> --vault ${name}` : `coppice merge ${name}`
  return `coppice diff --vault ${name} --patch · ${keep}`
}
