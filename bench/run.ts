/** The entry point of `npm run bench -- <benchmark…>`. */
import { fileURLToPath } from 'node:url'
import { benchmarks } from './benchmarks.ts'
import type { Benchmark, SubjectEntry } from './harness/benchmark.ts'
import { observeConditions } from './harness/conditions.ts'
import { installPeers } from './harness/install.ts'
import { helpText, type Options, parseOptions, UsageError } from './harness/options.ts'
import { Progress } from './harness/progress.ts'
import { writeRecord } from './harness/record.ts'
import { renderReport } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'

try {
  await main(parseOptions(process.argv.slice(2)))
} catch (error) {
  const text = error instanceof UsageError ? `${error.message}\nTry npm run bench -- --help` : error
  console.error(text)
  process.exitCode = 1
}

async function main(options: Options): Promise<void> {
  if (options.help || options.names.length === 0) {
    process.stdout.write(helpText(benchmarks))
    return
  }
  const runs = options.names.map(findBenchmark).map((benchmark) => ({
    benchmark,
    subjects: chooseSubjects(benchmark, options.filter),
  }))
  await installPeers()
  for (const { benchmark, subjects } of runs) await run(benchmark, subjects, options)
}

async function run(
  benchmark: Benchmark,
  subjects: readonly SubjectEntry[],
  { rounds, json }: Options,
): Promise<void> {
  const conditions = await observeConditions()
  const results = await runRounds(benchmark, subjects, rounds, new Progress())
  const file = json ?? fileURLToPath(new URL(`results/${benchmark.name}.json`, import.meta.url))
  await writeRecord(file, benchmark, subjects, results, conditions)
  process.stdout.write(renderReport(benchmark, subjects, results, conditions))
  process.stdout.write(`\n\nresults in ${file}\n`)
}

function findBenchmark(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name)
  if (found) return found
  throw new UsageError(`no benchmark '${name}'; there are ${benchmarks.map((each) => each.name).join(', ')}`)
}

function chooseSubjects({ name, subjects }: Benchmark, filter: readonly string[]): readonly SubjectEntry[] {
  const names = subjects.map((subject) => subject.name)
  const unknown = filter.find((wanted) => !names.includes(wanted))
  if (unknown !== undefined) {
    throw new UsageError(`'${name}' has no subject '${unknown}'; there are ${names.join(', ')}`)
  }
  return filter.length === 0 ? subjects : subjects.filter((subject) => filter.includes(subject.name))
}
