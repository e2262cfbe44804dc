import { type KernelEvent, listen, type Redactor } from '../kernel/index.ts'
import { type LogLine, type TraceLine, toLogLine, toTraceLine } from './trace-line.ts'

/** How much is kept of each process, and of how many. */
const MAX_LINES = 2000
const MAX_PROCESSES = 200
/** A reader that is further behind misses what comes. */
const MAX_QUEUED_LINES = 10_000

interface ProcessEvents {
  readonly trace: TraceLine[]
  readonly log: LogLine[]
}

/** A stream that is read too slowly, and what it missed. */
export interface MissedEvents {
  readonly missed: number
}

/** An event in words. */
interface FormattedEvent {
  readonly trace: TraceLine
  readonly log: LogLine | undefined
}

type HistoryListener = (event: KernelEvent, told: FormattedEvent) => void

/** What processes did lately, for whoever comes to look at it, and what they do from then on. */
export class EventHistory implements Disposable {
  readonly #byPid = new Map<number, ProcessEvents>()
  readonly #listeners = new Set<HistoryListener>()
  readonly #redactor: Redactor
  readonly #stop: () => void

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#stop = listen((event) => this.#record(event))
  }

  /** Calls and steps of a process, or of all for undefined; with `follow` until it has ended. */
  trace(
    pid: number | undefined,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<TraceLine | MissedEvents> {
    const kept = pid === undefined ? [] : [...(this.#byPid.get(pid)?.trace ?? [])]
    return this.#streamLines(kept, (told) => told.trace, { pid, follow, signal })
  }

  /** What a process told of its thinking; with `follow` until it has ended. */
  logs(pid: number, follow: boolean, signal: AbortSignal): AsyncGenerator<LogLine | MissedEvents> {
    const kept = [...(this.#byPid.get(pid)?.log ?? [])]
    return this.#streamLines(kept, (told) => told.log, { pid, follow, signal })
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #record(event: KernelEvent): void {
    const told = { trace: toTraceLine(event, this.#redactor), log: toLogLine(event, this.#redactor) }
    const page = this.#getProcessEvents(event.pid)
    appendBounded(page.trace, told.trace)
    if (told.log !== undefined) appendBounded(page.log, told.log)
    for (const hear of this.#listeners) hear(event, told)
  }

  #getProcessEvents(pid: number): ProcessEvents {
    const known = this.#byPid.get(pid)
    if (known !== undefined) return known
    const [oldest] = this.#byPid.keys()
    if (oldest !== undefined && this.#byPid.size >= MAX_PROCESSES) this.#byPid.delete(oldest)
    const page: ProcessEvents = { trace: [], log: [] }
    this.#byPid.set(pid, page)
    return page
  }

  async *#streamLines<Line>(
    kept: readonly Line[],
    lineOf: (told: FormattedEvent) => Line | undefined,
    { pid, follow, signal }: { pid: number | undefined; follow: boolean; signal: AbortSignal },
  ): AsyncGenerator<Line | MissedEvents> {
    if (!follow) return yield* kept
    const reader = new EventReader(lineOf, pid)
    const hear: HistoryListener = (event, told) => reader.add(event, told)
    const end = () => reader.end()
    this.#listeners.add(hear)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      yield* kept
      yield* reader.lines()
    } finally {
      this.#listeners.delete(hear)
      signal.removeEventListener('abort', end)
    }
  }
}

/** What one reader has not read yet. */
class EventReader<Line> {
  readonly #toLine: (told: FormattedEvent) => Line | undefined
  readonly #pid: number | undefined
  #queued: Line[] = []
  #missed = 0
  #isOver = false
  #wake: () => void = () => {}

  constructor(lineOf: (told: FormattedEvent) => Line | undefined, pid: number | undefined) {
    this.#toLine = lineOf
    this.#pid = pid
  }

  add(event: KernelEvent, told: FormattedEvent): void {
    if (this.#pid !== undefined && event.pid !== this.#pid) return
    const line = this.#toLine(told)
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
  // A quarter at a time: moving all of them for each new one would cost more than the call that is traced.
  if (lines.length > MAX_LINES) lines.splice(0, MAX_LINES / 4)
}
