import { formatFault } from '../event.ts'
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
    const process = this.#table.getAlive(pid)
    const disposition = process.signals.receive(signal)
    const how = typeof disposition === 'string' ? disposition : 'handled'
    process.emit({ kind: 'signal', detail: `${signal} ${how}` })
    if (disposition === 'default') performDefault(process, signal)
    else if (disposition !== 'pending') callHandler(process, signal, disposition)
  }

  sigHandle(pid: number, signal: Signal, handler: SignalHandler): void {
    this.#table.getAlive(pid).signals.handle(signal, handler)
  }

  sigBlock(pid: number, signal: Signal): void {
    this.#table.getAlive(pid).signals.block(signal)
  }

  sigUnblock(pid: number, signal: Signal): void {
    if (this.#table.getAlive(pid).signals.unblock(signal)) this.signal(pid, signal)
  }
}

/** A handler that throws is a fault of the process, and none of who sends the signal. */
function callHandler(process: Process, signal: Signal, handler: SignalHandler): void {
  try {
    handler(signal)
  } catch (error) {
    process.emit({ kind: 'log', text: formatFault(`the handler of ${signal}`, error) })
  }
}

function performDefault(process: Process, signal: Signal): void {
  if (signal === 'SIGPAUSE') process.pause()
  else if (signal === 'SIGRESUME') process.resume()
  else process.cancel(signal)
}
