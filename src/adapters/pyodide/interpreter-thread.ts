import type { Transferable, Worker } from 'node:worker_threads'
import { startThread } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { PythonError } from './python-error.ts'
import type { InterpreterSetup, PythonMessage, PythonRequest } from './python-messages.ts'

/** Listeners for output while a program runs. */
export interface OutputListeners {
  readonly onStdout?: (text: string) => void
  readonly onStderr?: (text: string) => void
}

/** Result of a request. */
export interface InterpreterResult {
  readonly value: unknown
  readonly stdout: string
  readonly stderr: string
}

interface Pending {
  readonly resolve: (outcome: InterpreterResult) => void
  readonly reject: (error: unknown) => void
  readonly output: { stdout: string; stderr: string }
}

/** An interpreter in a thread, seen from outside: requests are served in order. */
export class InterpreterThread {
  readonly #worker: Worker
  readonly #listeners: OutputListeners
  readonly #pending: Pending[] = []
  /** Fulfilled once it accepts requests. */
  readonly ready: Promise<unknown>
  #hasEnded = false
  #cause: unknown

  constructor(setup: InterpreterSetup, listeners: OutputListeners) {
    this.#listeners = listeners
    // Discard Pyodide's own output.
    const options = { workerData: setup, env: {}, stdout: true, stderr: true }
    this.#worker = startThread(import.meta.url, 'python-worker', options)
    this.#worker.on('message', (message: PythonMessage) => this.#receive(message))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(undefined))
    this.ready = this.#expectResult()
  }

  /** Sends a request. EPIPE if the interpreter has ended or ends first; a `PythonError` for an exception. */
  ask(request: PythonRequest, transfer: readonly Transferable[] = []): Promise<InterpreterResult> {
    if (this.#hasEnded) return Promise.reject(createEndedError(this.#cause))
    this.#worker.postMessage(request, transfer)
    return this.#expectResult()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #expectResult(): Promise<InterpreterResult> {
    const { promise, resolve, reject } = Promise.withResolvers<InterpreterResult>()
    this.#pending.push({ resolve, reject, output: { stdout: '', stderr: '' } })
    // The process stays alive only while a request is pending.
    this.#worker.ref()
    return promise
  }

  #receive(message: PythonMessage): void {
    const [pending] = this.#pending
    if (pending === undefined) return
    const { output } = pending
    if (message.kind === 'output') {
      this.#print(message, output)
      return
    }
    this.#pending.shift()
    if (this.#pending.length === 0) this.#worker.unref()
    if (message.kind === 'done') pending.resolve({ value: message.value, ...output })
    else if (message.kind === 'raised') pending.reject(new PythonError(message.exception, output))
    else pending.reject(VfsError.fromJSON(message.error))
  }

  #print({ stream, text }: Extract<PythonMessage, { kind: 'output' }>, output: Pending['output']): void {
    output[stream] += text
    if (stream === 'stdout') this.#listeners.onStdout?.(text)
    else this.#listeners.onStderr?.(text)
  }

  #end(cause: unknown): void {
    this.#hasEnded = true
    this.#cause ??= cause
    for (const { reject } of this.#pending.splice(0)) reject(createEndedError(this.#cause))
  }
}

function createEndedError(cause?: unknown): VfsError {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  const detail = `this Python has ended${reason}; create another with createPython`
  return new VfsError('EPIPE', '/', { op: 'run', detail, cause })
}
