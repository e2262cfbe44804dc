import { type KernelEvent, listen, type Redactor } from '../../kernel/index.ts'
import { type LogLine, logLine, type TraceLine, traceLine } from './trace-line.ts'

/** How much is kept of each process, and of how many. */
const KEPT_LINES = 2000
const KEPT_PROCESSES = 200
/** A reader that is further behind misses what comes. */
const MAX_BEHIND = 10_000

interface Page {
  readonly trace: TraceLine[]
  readonly log: LogLine[]
}

/** A stream that is read too slowly, and what it missed. */
export interface Missed {
  readonly missed: number
}

/** An event in words. */
interface Told {
  readonly trace: TraceLine
  readonly log: LogLine | undefined
}

type Hear = (event: KernelEvent, told: Told) => void

/** What processes did lately, for whoever comes to look at it, and what they do from then on. */
export class EventBook implements Disposable {
  readonly #pages = new Map<number, Page>()
  readonly #readers = new Set<Hear>()
  readonly #redactor: Redactor
  readonly #stop: () => void

  constructor(redactor: Redactor) {
    this.#redactor = redactor
    this.#stop = listen((event) => this.#hear(event))
  }

  /** Calls and steps of a process, or of all for undefined; with `follow` until it has ended. */
  trace(pid: number | undefined, follow: boolean, signal: AbortSignal): AsyncGenerator<TraceLine | Missed> {
    const kept = pid === undefined ? [] : [...(this.#pages.get(pid)?.trace ?? [])]
    return this.#lines(kept, (told) => told.trace, { pid, follow, signal })
  }

  /** What a process told of its thinking; with `follow` until it has ended. */
  logs(pid: number, follow: boolean, signal: AbortSignal): AsyncGenerator<LogLine | Missed> {
    const kept = [...(this.#pages.get(pid)?.log ?? [])]
    return this.#lines(kept, (told) => told.log, { pid, follow, signal })
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #hear(event: KernelEvent): void {
    const told = { trace: traceLine(event, this.#redactor), log: logLine(event, this.#redactor) }
    const page = this.#pageOf(event.pid)
    keep(page.trace, told.trace)
    if (told.log !== undefined) keep(page.log, told.log)
    for (const hear of this.#readers) hear(event, told)
  }

  #pageOf(pid: number): Page {
    const known = this.#pages.get(pid)
    if (known !== undefined) return known
    const [oldest] = this.#pages.keys()
    if (oldest !== undefined && this.#pages.size >= KEPT_PROCESSES) this.#pages.delete(oldest)
    const page: Page = { trace: [], log: [] }
    this.#pages.set(pid, page)
    return page
  }

  async *#lines<Line>(
    kept: readonly Line[],
    lineOf: (told: Told) => Line | undefined,
    { pid, follow, signal }: { pid: number | undefined; follow: boolean; signal: AbortSignal },
  ): AsyncGenerator<Line | Missed> {
    if (!follow) return yield* kept
    const reader = new Reader(lineOf, pid)
    const hear: Hear = (event, told) => reader.hear(event, told)
    const end = () => reader.end()
    this.#readers.add(hear)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      yield* kept
      yield* reader.lines()
    } finally {
      this.#readers.delete(hear)
      signal.removeEventListener('abort', end)
    }
  }
}

/** What one reader has not read yet. */
class Reader<Line> {
  readonly #lineOf: (told: Told) => Line | undefined
  readonly #pid: number | undefined
  #waiting: Line[] = []
  #missed = 0
  #isOver = false
  #wake: () => void = () => {}

  constructor(lineOf: (told: Told) => Line | undefined, pid: number | undefined) {
    this.#lineOf = lineOf
    this.#pid = pid
  }

  hear(event: KernelEvent, told: Told): void {
    if (this.#pid !== undefined && event.pid !== this.#pid) return
    const line = this.#lineOf(told)
    if (line !== undefined && this.#waiting.length >= MAX_BEHIND) this.#missed++
    else if (line !== undefined) this.#waiting.push(line)
    if (this.#pid !== undefined && isLast(event)) this.#isOver = true
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *lines(): AsyncGenerator<Line | Missed> {
    for (;;) {
      const lines = this.#waiting
      this.#waiting = []
      yield* lines
      if (this.#missed > 0) {
        const missed = this.#missed
        this.#missed = 0
        yield { missed }
      }
      if (this.#waiting.length > 0) continue
      if (this.#isOver) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

function isLast(event: KernelEvent): boolean {
  return event.kind === 'reap' && event.step === 'removed'
}

function keep<Line>(lines: Line[], line: Line): void {
  lines.push(line)
  // A quarter at a time: moving all of them for each new one would cost more than the call that is traced.
  if (lines.length > KEPT_LINES) lines.splice(0, KEPT_LINES / 4)
}
