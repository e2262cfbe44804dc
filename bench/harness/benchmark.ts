import type { Results } from './results.ts'

/** A comparison: the same works done by several subjects, each in processes of its own. */
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
  /** Values of `--engine`; the first is the default. Absent if there is no choice. */
  readonly engines?: readonly [string, ...string[]]
  /** True if it has a small form for `--quick`. */
  readonly hasQuickForm?: boolean
  /** Table that `--readme` writes into README.md. */
  readonly readme?: ReadmeTable
}

/** Table of a benchmark for readers of README.md. */
export interface ReadmeTable {
  readonly columns: readonly { readonly subject: string; readonly title: string }[]
  /** Each row has one work, or several in one cell. */
  readonly rows: readonly { readonly label: string; readonly works: readonly string[] }[]
}

/** Module of a subject. Every part runs in its own process, so that none warms or burdens another. */
export interface SubjectEntry {
  readonly name: string
  readonly parts: readonly Part[]
}

/** A module that exports `measure`; only the child process loads it. */
export interface Part {
  readonly name: string
  readonly module: URL
}

/** Exports of a part's module. */
export interface PartModule {
  measure(recorder: Recorder, settings: Settings): Promise<void>
}

/** Choices of the user for a whole run. */
export interface Choices {
  /** Small sizes, to see that it works. */
  readonly isQuick: boolean
  readonly engine: string | null
}

/** Settings of every part. */
export interface Settings extends Choices {
  /** A directory on the disk this repository is on, shared by all parts of a run and removed at its end. */
  readonly directory: string
}

/** One row of the table. */
export interface Work {
  readonly id: string
  readonly label: string
  readonly unit: Unit
}

/**
 * Form in which a measurement is shown. `rate`, `time` and throughput (which names the bytes one operation moves) show
 * seconds for each operation, `bytes` and `times` a number that was noted as such. Of all of them less is better.
 */
export type Unit = 'rate' | 'time' | 'bytes' | 'times' | { readonly throughput: number }

/** A goal of the project. `judge` returns undefined if a measurement that it compares is missing. */
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
  /** Times a task: the fastest of a few passes. */
  record(work: string, task: Task): Promise<void>
  /**
   * Notes what the subject has measured itself: seconds for each operation, bytes or a factor, as the work's unit says.
   */
  note(work: string, value: number): void
  /** Says in a word or two why there is no measurement. */
  skip(work: string, reason: string): void
  /** Reports progress to the user. */
  progress(text: string): void
}

/** A piece of work that can be repeated. Only `pass` is timed. */
export interface Task {
  /** Operations of one pass. */
  readonly operations: number
  /** Restores the state that every pass starts from. */
  prepare?(): Promise<void>
  /** Does the work and returns a count of its results, to compare with `expected`. */
  pass(): Promise<number>
  /** The expected count: a subject that is fast because it is wrong fails the run. */
  readonly expected: number
}
