import { type KernelEvent, listen, type Redactor } from '../kernel/index.ts'
import {
  formatTrace,
  type LogLine,
  redactLogLine,
  type ShortTrace,
  shortenTrace,
  type TraceLine,
  toLogLine,
} from './trace-line.ts'

/** Limits of lines per process, and of processes that have ended. */
const MAX_LINES = 2000
const MAX_ENDED_PROCESSES = 200
/** A reader further behind misses lines. */
const MAX_QUEUED_LINES = 10_000

/** Events of a process. They are redacted when somebody reads them. */
interface ProcessEvents {
  readonly trace: ShortTrace[]
  readonly log: LogLine[]
}

/** Number of lines that a slow reader missed. */
export interface MissedEvents {
  readonly missed: number
}

/** An event formatted as lines. */
interface FormattedEvent {
  readonly trace: TraceLine | undefined
  readonly log: LogLine | undefined
}

type HistoryListener = (event: KernelEvent, formatted: FormattedEvent) => void

/** Recent events of processes, and a live stream of new ones. */
export class EventHistory implements Disposable {
  readonly #byPid = new Map<number, ProcessEvents>()
  readonly #ended: number[] = []
  readonly #listeners = new Set<HistoryListener>()
  readonly #redactor: Redactor
  readonly #stop: () => void

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#stop = listen((event) => this.#record(event))
  }

  /** Reports whether there are events of a process: it ran in this program, not too long ago. */
  has(pid: number): boolean {
    return this.#byPid.has(pid)
  }

  /** Streams calls and steps of a process, or of all for undefined; with `follow` until it has ended. */
  trace(
    pid: number | undefined,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<TraceLine | MissedEvents> {
    const recorded = (pid === undefined ? undefined : this.#byPid.get(pid)?.trace) ?? []
    const kept = recorded.map((trace) => formatTrace(trace, this.#redactor))
    return this.#streamLines(kept, (formatted) => formatted.trace, { pid, follow, signal })
  }

  /** Streams the log of a process; with `follow` until it has ended. */
  logs(pid: number, follow: boolean, signal: AbortSignal): AsyncGenerator<LogLine | MissedEvents> {
    const kept = (this.#byPid.get(pid)?.log ?? []).map((line) => redactLogLine(line, this.#redactor))
    return this.#streamLines(kept, (formatted) => formatted.log, { pid, follow, signal })
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #record(event: KernelEvent): void {
    const log = toLogLine(event)
    const trace = event.kind === 'text' ? undefined : shortenTrace(event)
    const events = this.#getProcessEvents(event.pid)
    if (trace !== undefined) appendBounded(events.trace, trace)
    // Parts of a text are for those who follow now: the step has the whole text.
    if (log !== undefined && trace !== undefined) appendBounded(events.log, log)
    if (this.#listeners.size > 0) this.#notify(event, log, trace)
    if (isFinalEvent(event)) this.#end(event.pid)
  }

  #notify(event: KernelEvent, log: LogLine | undefined, trace: ShortTrace | undefined): void {
    const formatted = {
      trace: trace && formatTrace(trace, this.#redactor),
      log: log && redactLogLine(log, this.#redactor),
    }
    for (const listener of this.#listeners) listener(event, formatted)
  }

  #getProcessEvents(pid: number): ProcessEvents {
    const events = this.#byPid.get(pid) ?? { trace: [], log: [] }
    this.#byPid.set(pid, events)
    return events
  }

  /** Forgets the process that ended first, if there are too many. */
  #end(pid: number): void {
    this.#ended.push(pid)
    if (this.#ended.length <= MAX_ENDED_PROCESSES) return
    const oldest = this.#ended.shift()
    if (oldest !== undefined) this.#byPid.delete(oldest)
  }

  async *#streamLines<Line>(
    kept: readonly Line[],
    getLine: (formatted: FormattedEvent) => Line | undefined,
    { pid, follow, signal }: { pid: number | undefined; follow: boolean; signal: AbortSignal },
  ): AsyncGenerator<Line | MissedEvents> {
    if (!follow) return yield* kept
    const reader = new EventReader(getLine, pid)
    const listener: HistoryListener = (event, formatted) => reader.add(event, formatted)
    const end = () => reader.end()
    this.#listeners.add(listener)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      yield* kept
      yield* reader.lines()
    } finally {
      this.#listeners.delete(listener)
      signal.removeEventListener('abort', end)
    }
  }
}

/** Queue of one reader. */
class EventReader<Line> {
  readonly #toLine: (formatted: FormattedEvent) => Line | undefined
  readonly #pid: number | undefined
  #queued: Line[] = []
  #missed = 0
  #isOver = false
  #wake: () => void = () => {}

  constructor(getLine: (formatted: FormattedEvent) => Line | undefined, pid: number | undefined) {
    this.#toLine = getLine
    this.#pid = pid
  }

  add(event: KernelEvent, formatted: FormattedEvent): void {
    if (this.#pid !== undefined && event.pid !== this.#pid) return
    const line = this.#toLine(formatted)
    if (line !== undefined && this.#queued.length >= MAX_QUEUED_LINES) this.#missed++
    else if (line !== undefined) this.#queued.push(line)
    if (this.#pid !== undefined && isFinalEvent(event)) this.#isOver = true
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *lines(): AsyncGenerator<Line | MissedEvents> {
    for (;;) {
      const lines = this.#queued
      this.#queued = []
      yield* lines
      if (this.#missed > 0) {
        const missed = this.#missed
        this.#missed = 0
        yield { missed }
      }
      if (this.#queued.length > 0) continue
      if (this.#isOver) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

function isFinalEvent(event: KernelEvent): boolean {
  return event.kind === 'reap' && event.step === 'removed'
}

function appendBounded<Line>(lines: Line[], line: Line): void {
  lines.push(line)
  // A quarter at a time: shifting for each new line would cost more than the traced call.
  if (lines.length > MAX_LINES) lines.splice(0, MAX_LINES / 4)
}
