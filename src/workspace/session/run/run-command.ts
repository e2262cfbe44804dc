import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import {
  createGroupTree,
  createNamespaceTree,
  PRIVATE_FILE_MODE,
  type ProcessTree,
  RUN_ID_VARIABLE,
  spawnWithoutInheritedFds,
} from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { createCommandScript, isolationEnvironment, type Launch } from '../../isolation/index.ts'
import type { CommandSpec } from '../../policy/index.ts'
import type { RunOutcome, RunSpec, StopReason } from '../command-session.ts'
import { BoundedOutput } from './bounded-output.ts'
import { CommandStopper } from './command-stopper.ts'
import { OutputPipe, type OutputStream } from './output-pipe.ts'

/** Limit in milliseconds for draining output that a surviving process holds open. */
const DRAIN_TIMEOUT_MS = 1000
const POLL_INTERVAL_MS = 100

type OutputPipes = Readonly<Record<OutputStream, OutputPipe>>

/** Location of a run: the directory of its session, and its working directory as the command sees it. */
export interface RunLocation {
  readonly directory: string
  readonly cwd: string
}

/** Runs a command to its end, by a launch. Throws EIO if it cannot be started. */
export async function runCommand(launch: Launch, spec: RunSpec, location: RunLocation): Promise<RunOutcome> {
  const started = performance.now()
  const mark = randomBytes(8).toString('hex')
  const output = {
    stdout: new BoundedOutput(spec.limits.outputBytes),
    stderr: new BoundedOutput(spec.limits.outputBytes),
  }
  const pipes = { stdout: pipe('stdout'), stderr: pipe('stderr') }
  const child = startChild(launch, spec, location, pipes)
  const tree = createProcessTree(child, launch, mark)
  const isReady = sendScript(
    child,
    createCommandScript(toArgv(spec.command), createEnvironment(spec, launch, mark), location.cwd),
  )
  using stopping = new CommandStopper(spec, location.directory, tree)
  const [code, signal] = await waitForExit(child, spec)
  if (!launch.hasPidNamespace) tree?.kill()
  await drainOutput(pipes, spec.signal)
  const { stopped } = stopping
  const bytes = { stdout: output.stdout.bytes(), stderr: output.stderr.bytes() }
  if (!(await isReady) && stopped === undefined) throw createStartError(spec, bytes.stderr)
  return {
    ...toExit(code, signal, stopped),
    ...bytes,
    durationMs: performance.now() - started,
    timedOut: stopped === 'timeout',
    truncated: output.stdout.isTruncated || output.stderr.isTruncated,
    ...(stopped !== undefined && { stopped }),
  }

  function pipe(stream: OutputStream): OutputPipe {
    const made = new OutputPipe(location.directory, stream, (chunk) => {
      output[stream].add(chunk)
      const taken = spec.onOutput?.(stream, chunk)
      if (spec.isHeard?.(stream) === false) made.close()
      return taken
    })
    return made
  }
}

function createProcessTree(
  { pid }: ChildProcess,
  { hasPidNamespace }: Launch,
  mark: string,
): ProcessTree | undefined {
  if (pid === undefined) return undefined
  return hasPidNamespace ? createNamespaceTree(pid) : createGroupTree(pid, mark)
}

function startChild(
  launch: Launch,
  { stdin }: RunSpec,
  { directory }: RunLocation,
  pipes: OutputPipes,
): ChildProcess {
  const [file = '', ...args] = launch.argv
  const input = openInput(stdin, directory)
  try {
    return spawnWithoutInheritedFds(file, args, {
      cwd: directory,
      env: isolationEnvironment,
      // A Ctrl-C of the terminal reaches only this process, which then stops the command.
      detached: true,
      stdio: [input, pipes.stdout.descriptor, 'ignore', 'pipe', pipes.stderr.descriptor],
    })
  } finally {
    for (const pipe of Object.values(pipes)) pipe.release()
    if (typeof stdin !== 'number' && input !== 'ignore') closeSync(input)
  }
}

/** Opens the input of the command. Bytes become a file, so that a program can open its standard input again. */
function openInput(stdin: RunSpec['stdin'], directory: string): number | 'ignore' {
  if (stdin === undefined) return 'ignore'
  if (typeof stdin === 'number') return stdin
  const path = join(directory, 'stdin')
  writeFileSync(path, stdin, { mode: PRIVATE_FILE_MODE })
  return openSync(path, 'r')
}

/** Sends the launched shell its command; resolves to whether the command began. */
async function sendScript(child: ChildProcess, script: string): Promise<boolean> {
  // A child that could not be started has no channels.
  if (child.pid === undefined) return false
  const channel = child.stdio[3]
  if (!(channel instanceof Duplex)) return false
  let answer = ''
  channel.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
  })
  // The launch may fail before it reads anything; its missing answer reports that.
  channel.on('error', () => undefined)
  channel.end(script)
  await once(channel, 'close').catch(() => undefined)
  return answer.startsWith('ready')
}

/** Resolves when the child exits. Throws EIO if the system could not start it. */
async function waitForExit(
  child: ChildProcess,
  spec: RunSpec,
): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve, reject) => {
    child.once('error', ({ message }) => reject(createStartError(spec, Buffer.from(message))))
    child.once('exit', (...how) => resolve(how))
  })
  return [code, signal]
}

/** Reads the rest of the output. A slow reader gets all the time it needs, unless the signal is aborted. */
async function drainOutput(pipes: OutputPipes, signal: AbortSignal | undefined): Promise<void> {
  const both = Object.values(pipes)
  let waited = 0
  const waiting = setInterval(() => {
    if (!signal?.aborted && both.some((pipe) => pipe.isPaused)) return
    waited += POLL_INTERVAL_MS
    if (waited >= DRAIN_TIMEOUT_MS) for (const pipe of both) pipe.close()
  }, POLL_INTERVAL_MS)
  await Promise.all(both.map((pipe) => pipe.waitForEnd()))
  clearInterval(waiting)
}

function toArgv(command: CommandSpec): readonly string[] {
  return 'argv' in command ? command.argv : ['/bin/sh', '-c', command.shell]
}

function createEnvironment(
  { env }: RunSpec,
  { hasPidNamespace }: Launch,
  mark: string,
): Readonly<Record<string, string>> {
  return hasPidNamespace ? env : { ...env, [RUN_ID_VARIABLE]: mark }
}

function toExit(
  code: number | null,
  signal: NodeJS.Signals | null,
  stopped: StopReason | undefined,
): Pick<RunOutcome, 'exitCode' | 'signal'> {
  if (stopped !== undefined) return { exitCode: null, signal: 'SIGKILL' }
  if (code === null) return { exitCode: 128 + constants.signals[signal ?? 'SIGKILL'], signal }
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  return { exitCode: code, signal: name ?? null }
}

function createStartError({ cwd }: RunSpec, stderr: Uint8Array): VfsError {
  const reason = Buffer.from(stderr).toString('utf8').trim().split('\n', 1)[0] || 'it gave no reason'
  return new VfsError('EIO', cwd, { op: 'exec', detail: `the command could not be started: ${reason}` })
}
