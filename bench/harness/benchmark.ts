import type { Results } from './results.ts'

/** A comparison: the same works done by several subjects, each in a process of its own. */
export interface Benchmark {
  readonly name: string
  /** One line for `--help`. */
  readonly summary: string
  /** The first one is ours: ratios and targets compare it with the others. */
  readonly subjects: readonly [SubjectEntry, ...SubjectEntry[]]
  readonly works: readonly Work[]
  readonly targets: readonly Target[]
  /** Printed below the table, in order. */
  readonly notes: readonly string[]
}

/** Where a subject is. Its module exports `measure`; only the child process loads it, so that none warms another. */
export interface SubjectEntry {
  readonly name: string
  readonly module: URL
}

/** What a subject's module exports. */
export interface SubjectModule {
  measure(recorder: Recorder): Promise<void>
}

/** One row of the table. */
export interface Work {
  readonly id: string
  readonly label: string
  readonly unit: Unit
}

/** How seconds for each operation are shown. A throughput names the bytes one operation moves. */
export type Unit = 'rate' | 'time' | { readonly throughput: number }

/** Something to reach. `judge` answers undefined when what it compares was not measured. */
export interface Target {
  readonly label: string
  judge(results: Results): Verdict | undefined
}

export interface Verdict {
  readonly isReached: boolean
  /** The number that decided, for people. */
  readonly found: string
}

/** Takes the measurements of one subject, in its process. */
export interface Recorder {
  record(work: string, task: Task): Promise<void>
}

/** A piece of work that can be repeated. Only `pass` is timed. */
export interface Task {
  /** How many operations one pass does. */
  readonly operations: number
  /** Brings about the state every pass starts from. */
  prepare?(): Promise<void>
  /** Does the work and returns what it counted. */
  pass(): Promise<number>
  /** What the count must be: a subject that is fast because it is wrong fails the run. */
  readonly expected: number
}
