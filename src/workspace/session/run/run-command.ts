import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createGroupTree,
  createNamespaceTree,
  createRandomBytes,
  PRIVATE_FILE_MODE,
  type ProcessTree,
  spawnWithoutInheritedFds,
} from '../../../machine/index.ts'
import { isolationEnvironment, type Launch } from '../../isolation/index.ts'
import type { RunOutcome, RunSpec } from '../command-session.ts'
import { runInTerminal } from '../terminal/run-in-terminal.ts'
import { BoundedOutput } from './bounded-output.ts'
import { CarriedFiles } from './carried-files.ts'
import { CommandStopper } from './command-stopper.ts'
import { createStartError, type RunLocation, sendCommand, toExit, waitForExit } from './launched-child.ts'
import { createOutputPipes, OutputPipe, type OutputStream } from './output-pipe.ts'

/** Limit in milliseconds for draining output that a surviving process holds open. */
const DRAIN_TIMEOUT_MS = 1000
const POLL_INTERVAL_MS = 100

type OutputPipes = Readonly<Record<OutputStream, OutputPipe>>

/** Runs a command to its end, by a launch. Throws EIO if it cannot be started. */
export async function runCommand(launch: Launch, spec: RunSpec, location: RunLocation): Promise<RunOutcome> {
  const carried = new CarriedFiles(launch.carried ?? [], location.directory)
  const running = runLaunched(launch, spec, location)
  await running.catch(() => {})
  const failures = carried.finish()
  return addErrorLines(await running, spec, failures)
}

function runLaunched(launch: Launch, spec: RunSpec, location: RunLocation): Promise<RunOutcome> {
  const { terminal } = spec
  return terminal === undefined
    ? runWithPipes(launch, spec, location)
    : runInTerminal(launch, { ...spec, terminal }, location)
}

/** Adds lines of this program to the errors of a command that has ended. */
async function addErrorLines(
  outcome: RunOutcome,
  { terminal, onOutput }: RunSpec,
  lines: readonly string[],
): Promise<RunOutcome> {
  if (lines.length === 0) return outcome
  const added = Buffer.from(lines.join(''))
  if (terminal === undefined) await onOutput?.('stderr', added)
  else await terminal.write(added)
  return { ...outcome, stderr: Buffer.concat([outcome.stderr, added]) }
}

async function runWithPipes(launch: Launch, spec: RunSpec, location: RunLocation): Promise<RunOutcome> {
  const startedAt = performance.now()
  const runId = createRandomBytes(8).toString('hex')
  const output = {
    stdout: new BoundedOutput(spec.limits.outputBytes),
    stderr: new BoundedOutput(spec.limits.outputBytes),
  }
  if (!launch.createsPipes) await createOutputPipes(location.directory)
  let pipes = launch.createsPipes ? undefined : openPipes()
  const child = startChild(launch, spec, location, pipes)
  launch.listener?.attach(child)
  const tree = createProcessTree(child, launch, runId)
  if (child.pid !== undefined) spec.onStart?.(child.pid)
  let failure: unknown
  const onPipes = () => {
    try {
      pipes ??= openPipes()
    } catch (error) {
      failure = error
      tree?.kill()
    }
  }
  const answer = sendCommand(child, spec, { launch, cwd: location.cwd, runId, onPipes })
  // By then, the command has opened the pipes, or will not. A failure is thrown once the launch has ended.
  const release = () => (launch.createsPipes ? releasePipes(pipes) : undefined)
  answer.then(release, release)
  using stopper = new CommandStopper(spec, location.directory, tree)
  const [code, signal] = await waitForExit(child, spec)
  if (launch.mayLeaveProcesses) tree?.kill()
  const { isReady, text } = await answer
  if (failure !== undefined) throw failure
  await drainOutput(pipes, spec.signal)
  const { stopped } = stopper
  const bytes = { stdout: output.stdout.toBytes(), stderr: output.stderr.toBytes() }
  if (!isReady && stopped === undefined)
    throw createStartError(spec, Buffer.concat([bytes.stderr, Buffer.from(text, 'latin1')]))
  return {
    ...toExit(code, signal, stopped),
    ...bytes,
    durationMs: performance.now() - startedAt,
    timedOut: stopped === 'timeout',
    truncated: output.stdout.isTruncated || output.stderr.isTruncated,
    ...(stopped !== undefined && { stopped }),
  }

  function openPipes(): OutputPipes {
    return { stdout: openPipe('stdout'), stderr: openPipe('stderr') }
  }

  function openPipe(stream: OutputStream): OutputPipe {
    const pipe = new OutputPipe(location.directory, stream, (chunk) => {
      output[stream].add(chunk)
      const pending = spec.onOutput?.(stream, chunk)
      if (spec.isHeard?.(stream) === false) pipe.close()
      return pending
    })
    return pipe
  }
}

function createProcessTree(
  { pid }: ChildProcess,
  { hasPidNamespace, mayLeaveProcesses = false }: Launch,
  runId: string,
): ProcessTree | undefined {
  if (pid === undefined) return undefined
  return hasPidNamespace
    ? createNamespaceTree(pid)
    : createGroupTree(pid, runId, { keepsOrphans: !mayLeaveProcesses })
}

/** Starts the process of a launch, and closes what only that process needs, also after a failure. */
function startChild(
  launch: Launch,
  { stdin }: RunSpec,
  { directory }: RunLocation,
  pipes: OutputPipes | undefined,
): ChildProcess {
  const [file = '', ...args] = launch.argv
  let input: number | 'ignore' = 'ignore'
  try {
    input = openInput(stdin, directory)
    return spawnWithoutInheritedFds(file, args, {
      cwd: directory,
      env: isolationEnvironment,
      // A Ctrl-C of the terminal reaches only this process, which then stops the command.
      detached: true,
      stdio: [
        input,
        pipes?.stdout.descriptor ?? 'ignore',
        'ignore',
        'pipe',
        pipes?.stderr.descriptor ?? 'ignore',
        ...(launch.listener === undefined ? [] : (['ipc'] as const)),
      ],
    })
  } finally {
    releasePipes(pipes)
    if (typeof stdin !== 'number' && input !== 'ignore') closeSync(input)
  }
}

function releasePipes(pipes: OutputPipes | undefined): void {
  for (const pipe of Object.values(pipes ?? {})) pipe.release()
}

/** Opens the input of the command. Bytes become a file, so that a program can open its standard input again. */
function openInput(stdin: RunSpec['stdin'], directory: string): number | 'ignore' {
  if (stdin === undefined) return 'ignore'
  if (typeof stdin === 'number') return stdin
  const path = join(directory, 'stdin')
  writeFileSync(path, stdin, { mode: PRIVATE_FILE_MODE })
  return openSync(path, 'r')
}

/** Reads the rest of the output. A slow reader gets all the time it needs, unless the signal is aborted. */
async function drainOutput(pipes: OutputPipes | undefined, signal: AbortSignal | undefined): Promise<void> {
  const both = Object.values(pipes ?? {})
  let waited = 0
  const waiting = setInterval(() => {
    if (!signal?.aborted && both.some((pipe) => pipe.isPaused)) return
    waited += POLL_INTERVAL_MS
    if (waited >= DRAIN_TIMEOUT_MS) for (const pipe of both) pipe.close()
  }, POLL_INTERVAL_MS)
  await Promise.all(both.map((pipe) => pipe.waitForEnd()))
  clearInterval(waiting)
}
