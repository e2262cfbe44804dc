import { median } from './statistics.ts'

/** Seconds for each operation over all rounds. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: readonly number[]
}

/** What was measured: for each subject and work, one number a round. */
export class Results {
  readonly #rounds = new Map<string, number[]>()

  add(subject: string, work: string, secondsPerOperation: number): void {
    const key = keyOf(subject, work)
    const rounds = this.#rounds.get(key)
    if (rounds) rounds.push(secondsPerOperation)
    else this.#rounds.set(key, [secondsPerOperation])
  }

  summary(subject: string, work: string): Summary | undefined {
    const rounds = this.#rounds.get(keyOf(subject, work))
    if (rounds === undefined) return undefined
    return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds }
  }

  /** The median seconds of one operation. */
  seconds(subject: string, work: string): number | undefined {
    return this.summary(subject, work)?.median
  }

  /** How many times as fast the first subject does a work as the second. */
  speedup(subject: string, other: string, work: string): number | undefined {
    const ours = this.seconds(subject, work)
    const theirs = this.seconds(other, work)
    return ours === undefined || theirs === undefined ? undefined : theirs / ours
  }
}

function keyOf(subject: string, work: string): string {
  return `${subject}\n${work}`
}
