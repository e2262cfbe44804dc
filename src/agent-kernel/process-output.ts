import type { Redactor, StepFiles } from '../kernel/index.ts'
import type { EventHistory, MissedEvents } from './event-history.ts'
import type { ProcessRecord } from './process-records.ts'
import { restoreEvents } from './restore-events.ts'
import {
  formatTrace,
  type LogLine,
  redactLogLine,
  shortenTrace,
  type TraceLine,
  toLogLine,
} from './trace-line.ts'

interface ProcessOutputParts {
  readonly events: EventHistory
  readonly steps: StepFiles
  readonly redactor: Redactor
}

/** Logs and calls of processes: as they happened in this program, or restored from the steps of an earlier one. */
export class ProcessOutput {
  readonly #parts: ProcessOutputParts

  constructor(parts: ProcessOutputParts) {
    this.#parts = parts
  }

  /** Returns the last line of a process's log; empty if this program has not run it. */
  async readLastLog(pid: number): Promise<string> {
    const { events } = this.#parts
    if (!events.has(pid)) return ''
    const lines = await Array.fromAsync(events.logs(pid, false, new AbortController().signal))
    const last = lines.at(-1)
    return last !== undefined && 'text' in last ? last.text : ''
  }

  /** Streams the log of a process; with `follow` until it has ended. */
  async *logs(
    record: ProcessRecord,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<LogLine | MissedEvents> {
    const { events, redactor } = this.#parts
    if (events.has(record.pid)) return yield* events.logs(record.pid, isRunning(record) && follow, signal)
    for (const event of await this.#restore(record)) {
      const line = toLogLine(event)
      if (line !== undefined) yield redactLogLine(line, redactor)
    }
  }

  /** Streams the calls of a process, or new ones of all for undefined; with `follow` until it has ended. */
  async *trace(
    record: ProcessRecord | undefined,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<TraceLine | MissedEvents> {
    const { events, redactor } = this.#parts
    if (record === undefined) return yield* events.trace(undefined, follow, signal)
    if (events.has(record.pid)) return yield* events.trace(record.pid, isRunning(record) && follow, signal)
    for (const event of await this.#restore(record)) yield formatTrace(shortenTrace(event), redactor)
  }

  async #restore(record: ProcessRecord): Promise<ReturnType<typeof restoreEvents>> {
    return restoreEvents(record, await this.#parts.steps.read(record.uuid))
  }
}

function isRunning({ state }: ProcessRecord): boolean {
  return state === 'running'
}
