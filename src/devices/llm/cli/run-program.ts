import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { VfsError } from '../../../vfs/index.ts'
import { createGroupTree, RUN_ID_VARIABLE } from '../../../workspace/session/index.ts'
import { JsonLineReader } from './json-line-reader.ts'

/** Of what a program said about its failure, the end tells most. */
const MAX_STDERR_CHARACTERS = 2000
/** How long output is waited for that a process holds open which got away. */
const OUTPUT_GRACE_MS = 1000

/** Which program answers for a model, and with what. */
export interface ModelProgram {
  /** The device, for messages. */
  readonly path: string
  readonly executable: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly directory: string
  /** What to do where there is no such program. */
  readonly install: string
}

export interface ProgramRun {
  readonly args: readonly string[]
  readonly input: string
  onEvent(event: object): void
}

/** How a program ended, and its last words. */
export interface ProgramEnd {
  /** 0 to 255, or the name of the signal that ended it. */
  readonly exit: number | NodeJS.Signals
  readonly stderrTail: string
}

/**
 * Runs a program that prints events as lines of JSON. When the signal is aborted, it and all it started are ended
 * before this returns. EUNAVAILABLE where it cannot be started, EIO for output without bounds.
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
    // One that ends without reading its input says why in another way.
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
      // A group of its own, so that it can be ended as a whole; and Ctrl-C is not for it.
      detached: true,
    })
  } catch (error) {
    throw createStartError(program, error)
  }
}

/** What a program prints: events, and words about its failure. */
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

  /** When all is read. EIO if it was too much. */
  getStderrTail({ path, executable }: ModelProgram): string {
    if (this.#problem instanceof Error) {
      const detail = `'${executable}' printed ${this.#problem.message}`
      throw new VfsError('EIO', path, { op: 'write', detail })
    }
    this.#lines.end()
    return this.#stderr.trim() || this.#lines.lastOther.slice(-MAX_STDERR_CHARACTERS)
  }
}

/** Waits for a program and its output. What it leaves running is ended with it. */
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
