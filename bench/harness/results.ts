import { median } from './statistics.ts'

/** One measurement over all rounds: seconds for each operation, or what the work's unit says. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: readonly number[]
}

/** Measurements: for each subject and work, one number a round. */
export class Results {
  readonly #rounds = new Map<string, number[]>()
  readonly #skipped = new Map<string, string>()

  add(subject: string, work: string, value: number): void {
    const key = toKey(subject, work)
    const rounds = this.#rounds.get(key)
    if (rounds) rounds.push(value)
    else this.#rounds.set(key, [value])
  }

  skip(subject: string, work: string, reason: string): void {
    this.#skipped.set(toKey(subject, work), reason)
  }

  /** Returns the reason that a work was not measured, if it is known. */
  getSkipReason(subject: string, work: string): string | undefined {
    return this.#skipped.get(toKey(subject, work))
  }

  /** True if a work was measured, or skipped with a reason. */
  isKnown(subject: string, work: string): boolean {
    return this.#rounds.has(toKey(subject, work)) || this.#skipped.has(toKey(subject, work))
  }

  summary(subject: string, work: string): Summary | undefined {
    const rounds = this.#rounds.get(toKey(subject, work))
    if (rounds === undefined) return undefined
    return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds }
  }

  /** The median: seconds of one operation, or what the work's unit says. */
  value(subject: string, work: string): number | undefined {
    return this.summary(subject, work)?.median
  }

  /** Returns the factor by which the first subject is faster than the second. */
  speedup(subject: string, other: string, work: string): number | undefined {
    const ours = this.value(subject, work)
    const theirs = this.value(other, work)
    return ours === undefined || theirs === undefined ? undefined : theirs / ours
  }
}

function toKey(subject: string, work: string): string {
  return `${subject}\n${work}`
}
