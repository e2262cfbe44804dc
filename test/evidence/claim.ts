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

/** The result of one claim's tests in one run. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly figures: Readonly<Partial<Record<FigureName, number>>>
}

/** The runs that `docs/evidence.md` shows: by form, then by promise. */
export interface EvidenceRun {
  readonly date: string
  readonly machine: string
  readonly outcomes: Readonly<Record<string, Outcome>>
}

export type Form = 'short' | 'long'

export type Evidence = Readonly<Partial<Record<Form, EvidenceRun>>>
