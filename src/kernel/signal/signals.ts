import { faultText } from '../event.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'
import type { Signal, SignalHandler } from './signal.ts'

export interface SignalManager {
  /** Delivers a signal: blocked ones wait, handled ones go to their handler. ENOENT for a process that has ended. */
  signal(pid: number, signal: Signal): void
  /** EINVAL for SIGKILL. */
  sigHandle(pid: number, signal: Signal, handler: SignalHandler): void
  /** EINVAL for SIGKILL. */
  sigBlock(pid: number, signal: Signal): void
  /** Delivers what was waiting. */
  sigUnblock(pid: number, signal: Signal): void
}

export class Signals implements SignalManager {
  readonly #table: ProcessTable

  constructor(table: ProcessTable) {
    this.#table = table
  }

  signal(pid: number, signal: Signal): void {
    const process = this.#table.alive(pid)
    const disposition = process.signals.arrive(signal)
    const how = typeof disposition === 'string' ? disposition : 'handled'
    process.tell({ kind: 'signal', detail: `${signal} ${how}` })
    if (disposition === 'default') act(process, signal)
    else if (disposition !== 'pending') handle(process, signal, disposition)
  }

  sigHandle(pid: number, signal: Signal, handler: SignalHandler): void {
    this.#table.alive(pid).signals.handle(signal, handler)
  }

  sigBlock(pid: number, signal: Signal): void {
    this.#table.alive(pid).signals.block(signal)
  }

  sigUnblock(pid: number, signal: Signal): void {
    if (this.#table.alive(pid).signals.unblock(signal)) this.signal(pid, signal)
  }
}

/** A handler that throws is a fault of the process, and none of who sends the signal. */
function handle(process: Process, signal: Signal, handler: SignalHandler): void {
  try {
    handler(signal)
  } catch (error) {
    process.tell({ kind: 'log', text: faultText(`the handler of ${signal}`, error) })
  }
}

function act(process: Process, signal: Signal): void {
  if (signal === 'SIGPAUSE') process.pause()
  else if (signal === 'SIGRESUME') process.resume()
  else process.cancel(signal)
}
