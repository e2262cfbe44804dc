import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createGroupTree, RUN_ID_VARIABLE } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { JsonLineReader } from './json-line-reader.ts'

/** Characters of standard error to keep: the end of the output explains a failure best. */
const MAX_STDERR_CHARACTERS = 2000
/** Time to wait for output that an escaped child process holds open. */
const OUTPUT_GRACE_MS = 1000

/** A program that serves as a model. */
export interface ModelProgram {
  /** Path of the device, for messages. */
  readonly path: string
  readonly executable: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly directory: string
  /** Instruction for installing the program. */
  readonly install: string
}

export interface ProgramRun {
  readonly args: readonly string[]
  readonly input: string
  onEvent(event: object): void
}

/** Exit status of a program and the tail of its standard error. */
export interface ProgramEnd {
  /** Exit code from 0 to 255, or the signal that killed it. */
  readonly exit: number | NodeJS.Signals
  readonly stderrTail: string
}

/**
 * Runs a program that prints events as lines of JSON. When the signal aborts, kills its process group
 * before returning. EUNAVAILABLE if it cannot be started, EIO if its output exceeds
 * the limit, and any VfsError of `onEvent`, which stops it.
 */
export async function runProgram(
  program: ModelProgram,
  { args, input, onEvent }: ProgramRun,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const mark = randomBytes(8).toString('hex')
  const child = spawnProgram(program, args, mark)
  const kill = () => {
    if (child.pid !== undefined) createGroupTree(child.pid, mark).kill()
  }
  const stop = () => {
    kill()
    closeOutput(child)
  }
  const output = new ProgramOutput(child, onEvent, stop)
  signal.addEventListener('abort', stop)
  try {
    // A process that ends without reading its input reports the reason elsewhere.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const exit = await waitForExit(child, program, kill)
    return { exit, stderrTail: output.getStderrTail(program) }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function spawnProgram(
  program: ModelProgram,
  args: readonly string[],
  mark: string,
): ChildProcessWithoutNullStreams {
  try {
    return spawn(program.executable, args, {
      cwd: program.directory,
      env: { ...program.env, [RUN_ID_VARIABLE]: mark },
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
  #problem: unknown

  constructor(child: ChildProcessWithoutNullStreams, onEvent: (event: object) => void, stop: () => void) {
    this.#lines = new JsonLineReader(onEvent)
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        this.#lines.add(chunk)
      } catch (error) {
        this.#problem = error
        stop()
      }
    })
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS)
    })
  }

  /** Returns the tail of standard error once all is read. EIO if the output exceeded the limit. */
  getStderrTail({ path, executable }: ModelProgram): string {
    if (this.#problem instanceof VfsError) throw this.#problem
    if (this.#problem instanceof Error) {
      const detail = `'${executable}' printed ${this.#problem.message}`
      throw new VfsError('EIO', path, { op: 'write', detail })
    }
    this.#lines.end()
    return this.#stderr.trim() || this.#lines.lastOther.slice(-MAX_STDERR_CHARACTERS)
  }
}

/** Waits for a program and its output, then kills what is left of its process group. */
function waitForExit(
  child: ChildProcessWithoutNullStreams,
  program: ModelProgram,
  kill: () => void,
): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Timeout | undefined
    child.once('error', (cause) => reject(createStartError(program, cause)))
    child.once('exit', () => {
      kill()
      late = setTimeout(() => closeOutput(child), OUTPUT_GRACE_MS)
    })
    child.once('close', (code, signal) => {
      clearTimeout(late)
      resolve(code ?? signal ?? 'SIGKILL')
    })
  })
}

function closeOutput({ stdout, stderr }: ChildProcessWithoutNullStreams): void {
  stdout.destroy()
  stderr.destroy()
}

function createStartError({ path, executable, directory, install }: ModelProgram, cause: unknown): VfsError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const detail = existsSync(directory)
    ? `'${executable}' cannot be started (${why}): ${install}`
    : `there is no directory '${directory}' to run '${executable}' in`
  return new VfsError('EUNAVAILABLE', path, { op: 'write', detail, cause })
}
