import type { FigureName } from '../support/figures.ts'

/** One promise of `docs/evidence.md` and the tests that hold it. */
export interface Claim {
  readonly promise: string
  /** How the tests try to break the promise. */
  readonly method: string
  /** Test files, relative to the root. Several claims may name one file. */
  readonly tests: readonly string[]
  /** Only tests whose full name contains this count; without it all of the files do. */
  readonly only?: string
  readonly figures?: readonly FigureName[]
}

/** The claims of one heading. */
export interface ClaimGroup {
  readonly title: string
  readonly claims: readonly Claim[]
}

/** The result of one claim's tests in their last run. */
export interface Outcome {
  /** Day of the run, as in `2026-11-17`. */
  readonly date: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly figures: Readonly<Partial<Record<FigureName, number>>>
}

/** The results that `docs/evidence.md` shows of one form, by promise. */
export interface FormResults {
  /** Machine of the last run. */
  readonly machine: string
  readonly outcomes: Readonly<Record<string, Outcome>>
}

export type Form = 'short' | 'long'

export type Evidence = Readonly<Partial<Record<Form, FormResults>>>
