import { formatFault } from '../event.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'
import type { Signal, SignalHandler } from './signal.ts'

/** Sends signals and installs handlers for them. */
export interface SignalManager {
  /** Delivers a signal, unless it is blocked, to its handler if it has one. ENOENT for a process that has ended. */
  signal(pid: number, signal: Signal): void
  /** EINVAL for SIGKILL. */
  sigHandle(pid: number, signal: Signal, handler: SignalHandler): void
  /** EINVAL for SIGKILL. */
  sigBlock(pid: number, signal: Signal): void
  /** Unblocks a signal and delivers it if it is pending. */
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
    const outcome = typeof disposition === 'string' ? disposition : 'handled'
    process.emit({ kind: 'signal', detail: `${signal} ${outcome}` })
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

/** Logs a handler's error for its process; the sender does not see it. */
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
