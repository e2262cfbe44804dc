import type { Benchmark, Part, Settings, SubjectEntry } from './benchmark.ts'
import type { Message } from './messages.ts'
import { runPart } from './part-process.ts'
import type { Progress } from './progress.ts'
import { Results } from './results.ts'

/** Number of rounds, their settings, and the signal that ends them early. */
export interface RoundsOptions {
  readonly rounds: number
  readonly settings: Settings
  readonly signal: AbortSignal
  readonly progress: Progress
}

/**
 * Runs round 1 of every subject, then round 2 of every subject, and so on: a machine that slows down slows all alike.
 * Each round of a part is a fresh process, so neither leftovers nor one unlucky compilation last.
 */
export async function runRounds(
  { works }: Benchmark,
  subjects: readonly SubjectEntry[],
  { rounds, settings, signal, progress }: RoundsOptions,
): Promise<Results> {
  const results = new Results()
  const labels = new Map(works.map(({ id, label }) => [id, label]))
  for (let round = 1; round <= rounds; round++) {
    for (const { name, part } of interleaveParts(subjects)) {
      const where = `round ${round} of ${rounds} · ${name} · ${part.name}`
      progress.show(`${where} · warming up`)
      const onMessage = (message: Message) => {
        if (message.kind === 'measured') results.add(name, message.work, message.value)
        else if (message.kind === 'skipped') results.skip(name, message.work, message.reason)
        else progress.show(`${where} · ${labels.get(message.text) ?? message.text}`)
      }
      await runPart(part.module, { settings, signal, onMessage })
    }
  }
  progress.clear()
  return results
}

/** Lists the same part of every subject, then the next part, so that what is compared runs close together. */
function interleaveParts(subjects: readonly SubjectEntry[]): { name: string; part: Part }[] {
  const names = new Set(subjects.flatMap(({ parts }) => parts.map((part) => part.name)))
  return [...names].flatMap((wanted) =>
    subjects.flatMap(({ name, parts }) =>
      parts.filter((part) => part.name === wanted).map((part) => ({ name, part })),
    ),
  )
}
