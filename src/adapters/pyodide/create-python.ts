import { Mutex } from '../../machine/index.ts'
import { assertOptions, type CallContext, checkPath, type FileSystem, VfsError } from '../../vfs/index.ts'
import { type SharedFileSystem, shareFileSystem } from '../threads/index.ts'
import { type InterpreterResult, InterpreterThread, type OutputListeners } from './interpreter-thread.ts'
import { Interrupts } from './interrupts.ts'

const EXAMPLE = "createPython({ mounts: { '/work': fs } })"

/** Options of `createPython`. */
export interface PythonOptions extends OutputListeners {
  /** File systems by mount point in Python: `{ '/work': fs }`. */
  readonly mounts?: Readonly<Record<string, FileSystem>>
  /** Working directory, also searched for modules; the first mount when absent. */
  readonly cwd?: string
  /** Environment variables of Python; none of this process are inherited. */
  readonly env?: Readonly<Record<string, string>>
  /** Context of every call on the mounts, for policies and journals. */
  readonly ctx?: CallContext
  /** Permission bits removed from files created by Python; 0o022 when absent. */
  readonly umask?: number
}

/** Options of one run of Python code. */
export interface PythonRunOptions {
  /** Limit after which the program is interrupted: ETIMEDOUT. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Value of a program's last expression, converted to JavaScript (its `str` if there is no equivalent),
 * and its output.
 */
export type PythonResult = InterpreterResult

/** A Python interpreter. Definitions of one program are visible to the next. */
export interface Python extends AsyncDisposable {
  /**
   * Runs a program after all earlier ones. A `PythonError` for an exception, ETIMEDOUT after `timeoutMs`, the signal's
   * reason after an abort.
   * If a program ignores its interrupt for a second, the interpreter ends and all later calls are EPIPE.
   */
  run(code: string, options?: PythonRunOptions): Promise<PythonResult>
  /** Mounts a file system. EEXIST if the path is a mount already. */
  mount(path: string, fs: FileSystem): Promise<void>
  unmount(path: string): Promise<void>
  /** Raises KeyboardInterrupt in the running program, also while it waits for a file. */
  interrupt(): void
  /** Ends the interpreter and closes its open files. */
  close(): Promise<void>
}

/**
 * Starts Python in a thread of its own. Any file system can be mounted: this thread serves its calls while
 * Python blocks. EINVAL for anything but options, ENOTSUP if the package `pyodide` is not installed.
 */
export async function createPython(options: PythonOptions = {}): Promise<Python> {
  assertOptions(options, 'open', () => EXAMPLE)
  // A file system has no field of options, so Python would run without it.
  if ('capabilities' in options)
    throw new VfsError('EINVAL', '/', { op: 'open', detail: `createPython takes options: ${EXAMPLE}` })
  const python = new ThreadedPython(options)
  try {
    await python.prepare(options)
    return python
  } catch (error) {
    await python.close()
    throw error
  }
}

/** Grace period of a program after its interrupt. */
const GRACE_MS = 1000

class ThreadedPython implements Python {
  readonly #thread: InterpreterThread
  readonly #shared = new Map<string, SharedFileSystem>()
  // Calls are not cancelled one by one: a second interrupt would hit the handler of the first.
  readonly #interrupts = new Interrupts(() => {
    for (const shared of this.#shared.values()) shared.wake()
  })
  readonly #ctx: CallContext | undefined
  readonly #umask: number
  readonly #mutex = new Mutex()
  #isRunning = false

  constructor({ env = {}, ctx, umask = 0o022, ...listeners }: PythonOptions) {
    this.#ctx = ctx
    this.#umask = umask
    // Avoid bytecode files: a program that only reads must leave no trace.
    const setup = { env: { PYTHONDONTWRITEBYTECODE: '1', ...env }, interrupts: this.#interrupts.cells }
    this.#thread = new InterpreterThread(setup, listeners)
  }

  async prepare({ mounts = {}, cwd = Object.keys(mounts)[0] }: PythonOptions): Promise<void> {
    await this.#thread.ready
    // Mount outer paths first: they would hide the inner ones.
    const paths = Object.entries(mounts).toSorted(([a], [b]) => a.length - b.length)
    for (const [path, fs] of paths) await this.mount(path, fs)
    if (cwd !== undefined) await this.#thread.ask({ kind: 'chdir', path: cwd })
  }

  run(code: string, options: PythonRunOptions = {}): Promise<PythonResult> {
    return this.#mutex.run(() => this.#run(code, options))
  }

  async mount(path: string, fs: FileSystem): Promise<void> {
    const mountPoint = checkPath(path, 'mount')
    const shared = shareFileSystem(fs, {
      cancelled: this.#interrupts.cells,
      ...(this.#ctx !== undefined && { ctx: this.#ctx }),
    })
    shared.unref()
    try {
      const { channel } = shared
      await this.#thread.ask({ kind: 'mount', path: mountPoint, channel, umask: this.#umask }, [channel.port])
    } catch (error) {
      await shared.close()
      throw error
    }
    this.#shared.set(mountPoint, shared)
  }

  async unmount(path: string): Promise<void> {
    const mountPoint = checkPath(path, 'unmount')
    await this.#thread.ask({ kind: 'unmount', path: mountPoint })
    await this.#shared.get(mountPoint)?.close()
    this.#shared.delete(mountPoint)
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
    let endTimer: NodeJS.Timeout | undefined
    const interrupt = () => {
      this.interrupt()
      endTimer = setTimeout(() => void this.#thread.end(), GRACE_MS)
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
      // A late interrupt must not hit the next program.
      this.#interrupts.clear()
      stop.removeEventListener('abort', interrupt)
      clearTimeout(timer)
      clearTimeout(endTimer)
    }
  }
}

function createTimeoutError(timeoutMs: number | undefined, cause: unknown): VfsError {
  const detail = `the program was stopped after ${timeoutMs} ms; raise timeoutMs if it needs longer`
  return new VfsError('ETIMEDOUT', '/', { op: 'run', detail, cause })
}
