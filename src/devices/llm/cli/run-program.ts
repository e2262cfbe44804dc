import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { ModelStartError } from '../../../kernel/index.ts'
import { createGroupTree, isErrno, RUN_ID_VARIABLE } from '../../../machine/index.ts'
import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import { JsonLineReader } from './json-line-reader.ts'

/** Characters of standard error to keep: its end explains a failure best. */
const MAX_STDERR_CHARACTERS = 2000
/** Time to wait for the output to close. A child that left the process group may keep it open. */
const OUTPUT_GRACE_MS = 1000

/** A command-line program that answers as a model, such as `claude`. */
export interface ModelProgram {
  /** Path of the device, for messages. */
  readonly path: string
  readonly executable: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  /** Instruction for installing the program. */
  readonly installHint: string
}

/** Arguments and input of one run, and the receiver of its events. */
export interface ProgramRun {
  readonly args: readonly string[]
  readonly input: string
  onEvent(event: object): void
}

/** Exit status of a program. */
export interface ProgramEnd {
  /** Exit code from 0 to 255, or the signal that killed it. */
  readonly exit: number | NodeJS.Signals
  /** Text that may explain a failure: the end of standard error, or else the last line that is no event. */
  readonly lastMessage: string
}

/**
 * Runs a program that prints events as lines of JSON. An aborted signal kills its process group, and this returns as
 * after any other end. ENOENT if it is not installed, EACCES if it may not be run, EUNAVAILABLE if the machine is out of
 * a resource, EIO if it is no program or prints too long a line. A VfsError of `onEvent` stops it and is thrown.
 */
export async function runProgram(
  program: ModelProgram,
  { args, input, onEvent }: ProgramRun,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const runId = randomBytes(8).toString('hex')
  const child = spawnProgram(program, args, runId)
  const kill = () => {
    if (child.pid !== undefined) createGroupTree(child.pid, runId).kill()
  }
  const stop = () => {
    kill()
    closeOutput(child)
  }
  const output = new ProgramOutput(child, onEvent, stop)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    // A program may end without reading its input. Its exit status is reported.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const exit = await waitForExit(child, program, kill)
    return { exit, lastMessage: output.finish(program) }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function spawnProgram(
  program: ModelProgram,
  args: readonly string[],
  runId: string,
): ChildProcessWithoutNullStreams {
  try {
    return spawn(program.executable, args, {
      cwd: program.workingDirectory,
      env: { ...program.env, [RUN_ID_VARIABLE]: runId },
      // A process group of its own: it can be killed as a whole, and Ctrl-C does not reach it.
      detached: true,
    })
  } catch (error) {
    throw createStartError(program, error)
  }
}

/** Output of a program: events and standard error. */
class ProgramOutput {
  readonly #lines: JsonLineReader
  #stderr = ''
  #error: unknown

  constructor(child: ChildProcessWithoutNullStreams, onEvent: (event: object) => void, stop: () => void) {
    this.#lines = new JsonLineReader(onEvent)
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        this.#lines.add(chunk)
      } catch (error) {
        this.#error = error
        stop()
      }
    })
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS)
    })
  }

  /**
   * Handles the last line, and returns what may explain a failure. Throws the error that stopped the program: a
   * VfsError of `onEvent`, or EIO.
   */
  finish({ path, executable }: ModelProgram): string {
    if (this.#error instanceof VfsError) throw this.#error
    if (this.#error instanceof Error) {
      const detail = `'${executable}' printed ${this.#error.message}`
      throw new VfsError('EIO', path, { op: 'write', detail })
    }
    this.#lines.end()
    return this.#stderr.trim() || this.#lines.lastSkippedLine.slice(-MAX_STDERR_CHARACTERS)
  }
}

/** Waits for the end of a program, kills what is left of its process group, and waits for its output to close. */
function waitForExit(
  child: ChildProcessWithoutNullStreams,
  program: ModelProgram,
  kill: () => void,
): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    let closeTimer: NodeJS.Timeout | undefined
    child.once('error', (cause) => reject(createStartError(program, cause)))
    child.once('exit', () => {
      kill()
      closeTimer = setTimeout(() => closeOutput(child), OUTPUT_GRACE_MS)
    })
    child.once('close', (code, signal) => {
      clearTimeout(closeTimer)
      resolve(code ?? signal ?? 'SIGKILL')
    })
  })
}

function closeOutput({ stdout, stderr }: ChildProcessWithoutNullStreams): void {
  stdout.destroy()
  stderr.destroy()
}

/** Codes of a start that another attempt may find possible: the machine is out of a resource for now. */
const SCARCE_RESOURCES = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY']

/** Creates the error of a program that did not start. Only a lack of resources is one that passes by itself. */
function createStartError(
  { path, executable, workingDirectory, installHint }: ModelProgram,
  cause: unknown,
): VfsError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const problem = `'${executable}' cannot be started (${reason})`
  if (isErrno(cause, ...SCARCE_RESOURCES))
    return new VfsError('EUNAVAILABLE', path, { op: 'write', detail: problem, cause })
  const detail = existsSync(workingDirectory)
    ? `${problem}: ${installHint}`
    : `there is no directory '${workingDirectory}' to run '${executable}' in`
  return new ModelStartError(findStartCode(cause), path, { op: 'write', detail, cause })
}

function findStartCode(cause: unknown): ErrorCode {
  if (isErrno(cause, 'ENOENT', 'ENOTDIR')) return 'ENOENT'
  return isErrno(cause, 'EACCES', 'EPERM') ? 'EACCES' : 'EIO'
}
