import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Benchmark, Choices, SubjectEntry } from './benchmark.ts'
import type { Conditions } from './conditions.ts'
import type { Results } from './results.ts'

/** Writes what was measured as JSON: every round of every work, their median and spread, and the targets. */
export async function writeRecord(
  file: string,
  benchmark: Benchmark,
  subjects: readonly SubjectEntry[],
  results: Results,
  conditions: Conditions,
  choices: Choices,
): Promise<void> {
  const record = {
    benchmark: benchmark.name,
    time: new Date().toISOString(),
    conditions,
    quick: choices.isQuick,
    engine: choices.engine,
    units: Object.fromEntries(benchmark.works.map(({ id, unit }) => [id, unit])),
    measurements: Object.fromEntries(
      benchmark.works.map(({ id }) => [
        id,
        Object.fromEntries(
          subjects.map(({ name }) => [
            name,
            results.summary(name, id) ?? results.getSkipReason(name, id) ?? null,
          ]),
        ),
      ]),
    ),
    targets: benchmark.targets.map(({ label, judge }) => ({ label, ...judge(results) })),
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(record, null, 2)}\n`)
}
