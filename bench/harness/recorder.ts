import type { Recorder, Task } from './benchmark.ts'
import type { Message } from './messages.ts'

/** Passes are repeated until there are `passes`, or `seconds` have gone by. */
interface Budget {
  readonly passes: number
  readonly seconds: number
}

const RECORDED: Budget = { passes: 8, seconds: 0.5 }
const WARM_UP: Budget = { passes: 200, seconds: 0.2 }

/**
 * Measures for the record: the fastest of a few passes. Whatever else runs on the machine only ever adds time, so the
 * fastest pass is the one that tells most about the subject; between rounds the median decides.
 */
export class TimingRecorder implements Recorder {
  readonly #tell: (message: Message) => void

  constructor(tell: (message: Message) => void) {
    this.#tell = tell
  }

  async record(work: string, task: Task): Promise<void> {
    this.progress(work)
    const passes = await timePasses(work, task, RECORDED)
    this.note(work, Math.min(...passes) / task.operations)
  }

  note(work: string, value: number): void {
    this.#tell({ kind: 'measured', work, value })
  }

  skip(work: string, reason: string): void {
    this.#tell({ kind: 'skipped', work, reason })
  }

  progress(text: string): void {
    this.#tell({ kind: 'progress', text })
  }
}

/** Runs every work without keeping the time, so that the compiler has seen the code before it counts. */
export class WarmUpRecorder implements Recorder {
  async record(work: string, task: Task): Promise<void> {
    await timePasses(work, task, WARM_UP)
  }

  note(): void {}

  skip(): void {}

  progress(): void {}
}

async function timePasses(work: string, task: Task, enough: Budget): Promise<number[]> {
  const passes: number[] = []
  for (let total = 0; total < enough.seconds && passes.length < enough.passes; ) {
    const seconds = await timePass(work, task)
    passes.push(seconds)
    total += seconds
  }
  return passes
}

async function timePass(work: string, task: Task): Promise<number> {
  await task.prepare?.()
  collectGarbage()
  const startedAt = performance.now()
  const counted = await task.pass()
  const seconds = (performance.now() - startedAt) / 1000
  if (counted !== task.expected) {
    throw new Error(`wrong result in '${work}': counted ${counted}, expected ${task.expected}`)
  }
  return seconds
}

/** The garbage of one measurement must not slow the next. Children run with `--expose-gc`. */
function collectGarbage(): void {
  globalThis.gc?.()
}
