import { type CallContext, checkPath, type FileSystem, VfsError } from '../../vfs/index.ts'
import { type SharedFileSystem, shareFileSystem } from '../threads/index.ts'
import { type InterpreterResult, InterpreterThread, type OutputListeners } from './interpreter-thread.ts'
import { Interrupts } from './interrupts.ts'

export interface PythonOptions extends OutputListeners {
  /** File systems by the path Python has them at: `{ '/work': fs }`. */
  readonly mounts?: Readonly<Record<string, FileSystem>>
  /** Where programs start, and where modules are found. The first mount when absent. */
  readonly cwd?: string
  /** Environment variables of Python. None of this process are passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Goes with every call on the mounts, so that policies and journals know who asks. */
  readonly ctx?: CallContext
  /** Permission bits that files made by Python do not get. 0o022 when absent. */
  readonly umask?: number
}

export interface PythonRunOptions {
  /** The program is interrupted when it takes longer: ETIMEDOUT. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * The value of a program's last expression, as JavaScript has it (`str` of it where JavaScript has nothing like it),
 * and what it printed.
 */
export type PythonResult = InterpreterResult

/** A Python interpreter. What one program defines, the next one has. */
export interface Python extends AsyncDisposable {
  /**
   * Runs a program after all that were begun before it. A `PythonError` for an exception, ETIMEDOUT, the signal's reason.
   * One that does not heed its interrupt within a second ends the interpreter, and all that follows is EPIPE.
   */
  run(code: string, options?: PythonRunOptions): Promise<PythonResult>
  /** EEXIST if something is mounted there. */
  mount(path: string, fs: FileSystem): Promise<void>
  unmount(path: string): Promise<void>
  /** Raises KeyboardInterrupt in the program that runs, also while it waits for a file. */
  interrupt(): void
  /** Ends the interpreter and closes what it has open. */
  close(): Promise<void>
}

/**
 * Starts Python in a thread of its own. Any file system can be mounted: its calls are answered in this thread, while
 * Python waits for them. ENOTSUP if the package `pyodide` is not installed.
 */
export async function createPython(options: PythonOptions = {}): Promise<Python> {
  const python = new ThreadedPython(options)
  try {
    await python.prepare(options)
    return python
  } catch (error) {
    await python.close()
    throw error
  }
}

/** How long a program may go on after its interrupt. */
const GRACE_MS = 1000

class ThreadedPython implements Python {
  readonly #thread: InterpreterThread
  readonly #shared = new Map<string, SharedFileSystem>()
  // The calls are not cancelled one by one: a second interrupt would hit what the first one left to be done.
  readonly #interrupts = new Interrupts(() => {
    for (const shared of this.#shared.values()) shared.wake()
  })
  readonly #ctx: CallContext | undefined
  readonly #umask: number
  #lastRun: Promise<unknown> = Promise.resolve()
  #isRunning = false

  constructor({ env = {}, ctx, umask = 0o022, ...listeners }: PythonOptions) {
    this.#ctx = ctx
    this.#umask = umask
    // Bytecode would be the only trace of a program that changes nothing.
    const setup = { env: { PYTHONDONTWRITEBYTECODE: '1', ...env }, interrupts: this.#interrupts.cells }
    this.#thread = new InterpreterThread(setup, listeners)
  }

  async prepare({ mounts = {}, cwd = Object.keys(mounts)[0] }: PythonOptions): Promise<void> {
    await this.#thread.ready
    // Outer mounts first: they would hide the inner ones.
    const paths = Object.entries(mounts).toSorted(([a], [b]) => a.length - b.length)
    for (const [path, fs] of paths) await this.mount(path, fs)
    if (cwd !== undefined) await this.#thread.ask({ kind: 'chdir', path: cwd })
  }

  run(code: string, options: PythonRunOptions = {}): Promise<PythonResult> {
    const run = this.#lastRun.then(() => this.#run(code, options))
    this.#lastRun = run.catch(() => undefined)
    return run
  }

  async mount(path: string, fs: FileSystem): Promise<void> {
    const at = checkPath(path, 'mount')
    const shared = shareFileSystem(fs, {
      cancelled: this.#interrupts.cells,
      ...(this.#ctx !== undefined && { ctx: this.#ctx }),
    })
    shared.unref()
    try {
      const { channel } = shared
      await this.#thread.ask({ kind: 'mount', path: at, line: channel, umask: this.#umask }, [channel.port])
    } catch (error) {
      await shared.close()
      throw error
    }
    this.#shared.set(at, shared)
  }

  async unmount(path: string): Promise<void> {
    const at = checkPath(path, 'unmount')
    await this.#thread.ask({ kind: 'unmount', path: at })
    await this.#shared.get(at)?.close()
    this.#shared.delete(at)
  }

  interrupt(): void {
    if (this.#isRunning) this.#interrupts.send()
  }

  async close(): Promise<void> {
    await this.#thread.end()
    await Promise.all(Array.from(this.#shared.values(), (shared) => shared.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #run(code: string, { timeoutMs, signal }: PythonRunOptions): Promise<PythonResult> {
    signal?.throwIfAborted()
    const timeout = new AbortController()
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => timeout.abort(), timeoutMs)
    const stop = AbortSignal.any([timeout.signal, ...(signal === undefined ? [] : [signal])])
    let end: NodeJS.Timeout | undefined
    const interrupt = () => {
      this.interrupt()
      end = setTimeout(() => void this.#thread.end(), GRACE_MS)
    }
    stop.addEventListener('abort', interrupt, { once: true })
    this.#isRunning = true
    try {
      return await this.#thread.ask({ kind: 'run', code })
    } catch (error) {
      if (timeout.signal.aborted) throw createTimeoutError(timeoutMs, error)
      signal?.throwIfAborted()
      throw error
    } finally {
      this.#isRunning = false
      // One that came too late for this program is not meant for the next one.
      this.#interrupts.clear()
      stop.removeEventListener('abort', interrupt)
      clearTimeout(timer)
      clearTimeout(end)
    }
  }
}

function createTimeoutError(timeoutMs: number | undefined, cause: unknown): VfsError {
  const detail = `the program was stopped after ${timeoutMs} ms`
  return new VfsError('ETIMEDOUT', '/', { op: 'run', detail, cause })
}
