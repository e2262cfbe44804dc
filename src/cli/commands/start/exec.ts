import { realpathSync } from 'node:fs'
import type { Boundary } from '../../../boundary/index.ts'
import type { CommandSpec, ExecutionRequestInput } from '../../../workspace/index.ts'
import { findProject } from '../../access/enclosing-project.ts'
import { assertUserVault, type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { describeError, formatErrorLine, toErrorJson } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatLeftOut } from '../../render/left-out.ts'
import { fork } from '../shared-options.ts'
import { createRedactedEnvelope } from './envelope-output.ts'
import type { LaneResult } from './exec-lanes.ts'
import { connectCommand, connectStreams, createApprovalOptions } from './run-connection.ts'
import { type RunOption, runOptions } from './run-options.ts'
import { getExitCode, printWithheld, runAndReport } from './run-report.ts'
import { createRunRequest, type PreparedRun, placeInDirectory, prepareRun } from './run-request.ts'

const MAX_LANES = 64
const LANE_HINTS = {
  directory:
    'compare them with coppice diff <fork>, keep one with coppice apply <fork>, and coppice drop <fork> the rest',
  vault:
    'compare them with coppice diff --vault <fork>, keep one with coppice merge <fork>, and coppice drop <fork> the rest',
} as const

type ExecInvocation = CommandInvocation<'fork' | 'times' | 'shell' | RunOption, 'command'>

export const exec: Command = defineCommand(
  {
    name: 'exec',
    summary: 'Run a command in a fork of this directory',
    details: `The directory stays unchanged. Then: coppice diff shows the changes, coppice apply writes them to the directory,
coppice drop deletes them. With --vault the command runs in a fork of that vault instead.
Policy holds back commands that reach the network or leave the workspace; coppice policy explain says why.
A known program, such as claude or codex, gets what its profile names: its login, its settings, its hosts.
Variables that look like credentials are withheld and named; --env NAME passes one on.
Exits with the code of the command.`,
    scope: 'vault',
    options: {
      fork: { ...fork, summary: 'Run in this fork, created if missing (default: a new fork)' },
      times: { summary: 'Run this many in parallel, each in its own fork', short: 'n', value: 'count' },
      shell: { summary: 'Treat the one argument as a shell command line', short: 'c' },
      ...runOptions,
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
      'coppice exec -- claude',
      'coppice exec --fork task-1 -- make',
      "coppice exec --shell -- 'sed -i s/old/new/ src/*.ts'",
      'coppice exec --allow-host registry.npmjs.org -- npm ci',
      'coppice exec -n 3 --fork try -- ./try.sh',
      'coppice exec --vault base --timeout 60 --json -- ./script.sh',
    ],
  },
  (call) =>
    withHome(
      call,
      async (open) => {
        const { Boundary } = await import('../../../boundary/index.ts')
        // Several commands cannot share one terminal.
        const connection = call.has('times') ? connectStreams(call) : connectCommand(call)
        const unplaced = createRunRequest(call, parseCommand(call), connection)
        const request = await placeRequest(call, open, unplaced)
        const prepared = await prepareRun(call, open, request, connection)
        const boundary = await Boundary.open(open.home, prepared.redactor)
        const forkName = call.option('fork')
        const fork = forkName === undefined ? undefined : assertUserVault(forkName)
        const run = { ...prepared, options: { ...prepared.options, fork } }
        const code = call.has('times')
          ? await execLanes(call, boundary, run)
          : await runAndReport(call, open, boundary, run)
        await call.output.flush()
        // Only now: the changes of an interrupted command are kept and printed.
        call.terminal.signal.throwIfAborted()
        return code
      },
      { create: true },
    ),
)

/** Places a request in the directory of its fork, or in the repository around the working directory. */
async function placeRequest(
  call: ExecInvocation,
  { home }: OpenHome,
  request: ExecutionRequestInput,
): Promise<ExecutionRequestInput> {
  if (call.has('vault')) return request
  const fork = call.option('fork')
  const linked = fork === undefined ? undefined : await findLinkedFork(home, fork)
  return placeInDirectory(request, linked?.link.path ?? findProject(realpathSync(process.cwd())))
}

function parseCommand(call: ExecInvocation): CommandSpec {
  const words = call.argumentList('command')
  if (!call.has('shell')) return { argv: words }
  const [line] = words
  if (line !== undefined && words.length === 1) return { shell: line }
  throw new UsageError(
    '--shell (-c) takes one argument; put the line in quotation marks, and -- before a command with a -c of its own',
  )
}

/** Runs the lanes and returns the exit code of the first that failed; 0 if none did. */
async function execLanes(call: ExecInvocation, boundary: Boundary, run: PreparedRun): Promise<number> {
  const { request, options, withheld } = run
  const count = call.countOption('times') ?? 0
  if (count < 1 || count > MAX_LANES)
    throw new UsageError(`--times takes a number from 1 to ${MAX_LANES}, not ${count}`)
  const { runLanes } = await import('./exec-lanes.ts')
  const lanes = await runLanes(
    boundary,
    request,
    { ...options, ...createApprovalOptions(call, count) },
    count,
  )
  throwCommonError(lanes)
  if (call.isJson) await printLanesJson(call, lanes, run)
  else {
    printWithheld(call, withheld)
    await printLanes(call, lanes)
  }
  const codes = lanes.map((lane) =>
    'error' in lane ? describeError(lane.error).exitCode : getExitCode(lane.report),
  )
  return codes.find((code) => code !== 0) ?? 0
}

/** Throws the error of the lanes if all of them failed with the same message. */
function throwCommonError(lanes: readonly LaneResult[]): void {
  const errors = lanes.flatMap((lane) => ('error' in lane ? [lane.error] : []))
  const messages = new Set(errors.map((error) => describeError(error).message))
  if (errors.length === lanes.length && messages.size === 1) throw errors[0]
}

async function printLanesJson(
  call: ExecInvocation,
  lanes: readonly LaneResult[],
  { redactor, withheld }: PreparedRun,
): Promise<void> {
  const envelopes = lanes.map((lane) =>
    'error' in lane
      ? { ...toErrorJson(lane.error), fork: null }
      : createRedactedEnvelope(lane.request, lane.report, redactor, withheld),
  )
  await call.output.writeValue(await Promise.all(envelopes))
}

/** Prints notes, a table and the next steps to standard error, because standard output belongs to the commands. */
async function printLanes(call: ExecInvocation, lanes: readonly LaneResult[]): Promise<void> {
  const { err, signal } = call.terminal
  const { formatLaneTable } = await import('./exec-lanes.ts')
  const notes = lanes.flatMap((lane) => {
    const lines =
      'error' in lane ? [describeError(lane.error).message] : formatLeftOut(lane.report.result.left_out)
    return lines.map((line) => formatErrorLine(`[${lane.number}] ${line}`))
  })
  // After an interruption, each lane that did not run would have the same note.
  if (!signal.aborted) err.write(notes.join(''))
  const reports = lanes.flatMap((lane) => ('report' in lane ? [lane.report] : []))
  if (reports.length > 0) err.write(`\n${formatLaneTable(lanes).join('\n')}\n`)
  const next = LANE_HINTS[call.has('vault') ? 'vault' : 'directory']
  if (reports.some(({ fork: name }) => name !== null)) err.write(`\n${next}\n`)
}
