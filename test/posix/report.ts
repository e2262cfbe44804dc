import { DoesNotApply } from './check.ts'
import { lastLines } from './program.ts'

type Outcome = 'pass' | 'FAIL' | 'skip'

interface Row {
  readonly suite: string
  readonly check: string
  readonly outcome: Outcome
  readonly reason: string
}

const MS = 1000

/** What was tried and how it went: a line for each as it ends, and a table at the end. */
export class Report {
  readonly #rows: Row[] = []

  /** Tries something, and tells how it went. Never throws. */
  async note(suite: string, check: string, attempt: () => Promise<void>): Promise<void> {
    const began = performance.now()
    const { outcome, reason } = await outcomeOf(attempt)
    this.#rows.push({ suite, check, outcome, reason })
    const seconds = ((performance.now() - began) / MS).toFixed(1)
    const because = reason === '' ? '' : `: ${reason.replaceAll('\n', '\n       ')}`
    process.stdout.write(`${outcome}   ${suite} / ${check} (${seconds} s)${because}\n`)
  }

  get hasFailed(): boolean {
    return this.#rows.some(({ outcome }) => outcome === 'FAIL')
  }

  /** How many of each suite passed, failed and were skipped, and everything that did not pass. */
  summary(): string {
    const suites = [...Map.groupBy(this.#rows, ({ suite }) => suite)]
    const width = Math.max(...suites.map(([suite]) => suite.length))
    const count = (rows: readonly Row[], wanted: Outcome) =>
      String(rows.filter(({ outcome }) => outcome === wanted).length).padStart(5)
    const table = suites.map(
      ([suite, rows]) =>
        `${suite.padEnd(width)} ${count(rows, 'pass')} ${count(rows, 'FAIL')} ${count(rows, 'skip')}`,
    )
    const others = this.#rows.filter(({ outcome }) => outcome !== 'pass')
    const notes = others.map(
      ({ suite, check, outcome, reason }) => `${outcome}   ${suite} / ${check}: ${lastLines(reason, 1)}`,
    )
    return [`${'suite'.padEnd(width)}  pass  fail  skip`, ...table, '', ...notes, ''].join('\n')
  }
}

async function outcomeOf(attempt: () => Promise<void>): Promise<{ outcome: Outcome; reason: string }> {
  try {
    await attempt()
    return { outcome: 'pass', reason: '' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { outcome: error instanceof DoesNotApply ? 'skip' : 'FAIL', reason }
  }
}
