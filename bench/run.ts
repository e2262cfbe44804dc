/** The entry point of `npm run bench -- <benchmark…>`. */
import { fileURLToPath } from 'node:url'
import { benchmarks } from './benchmarks.ts'
import { collectRatios, describeLoss, findLosses, readBaseline, updateBaseline } from './harness/baseline.ts'
import type { Benchmark, Choices, SubjectEntry } from './harness/benchmark.ts'
import { observeConditions } from './harness/conditions.ts'
import { installPeers } from './harness/install.ts'
import { formatHelp, type Options, parseOptions, UsageError } from './harness/options.ts'
import { Progress } from './harness/progress.ts'
import { renderReadmeTable, updateReadme } from './harness/readme.ts'
import { writeRecord } from './harness/record.ts'
import { renderReport } from './harness/report.ts'
import type { Results } from './harness/results.ts'
import { runRounds } from './harness/rounds.ts'
import { assertSettings, chooseSubjects } from './harness/selection.ts'
import { Interrupted, openWorkspace } from './harness/workspace.ts'

try {
  await main(parseOptions(process.argv.slice(2)))
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

async function main(options: Options): Promise<void> {
  if (options.help || options.names.length === 0) {
    process.stdout.write(formatHelp(benchmarks))
    return
  }
  const runs = options.names.map(findBenchmark).map((benchmark) => {
    assertSettings(benchmark, options)
    if (options.writesReadme && benchmark.readme === undefined)
      throw new UsageError(`README.md has no table of '${benchmark.name}'`)
    return { benchmark, subjects: chooseSubjects(benchmark, options.filter, options.parts) }
  })
  await installPeers()
  for (const { benchmark, subjects } of runs) await run(benchmark, subjects, options)
}

async function run(benchmark: Benchmark, subjects: readonly SubjectEntry[], options: Options): Promise<void> {
  const { rounds, json, isQuick, engine: wanted } = options
  const engine = wanted ?? benchmark.engines?.[0] ?? null
  const conditions = await observeConditions()
  const results = await measure(benchmark, subjects, rounds, { isQuick, engine })
  const name = isQuick ? `${benchmark.name}-quick` : benchmark.name
  const file = json ?? fileURLToPath(new URL(`results/${name}.json`, import.meta.url))
  await writeRecord(file, benchmark, subjects, results, conditions, { isQuick, engine })
  process.stdout.write(renderReport(benchmark, subjects, results, conditions, { isQuick, engine }))
  process.stdout.write(`\n\nresults in ${file}\n`)
  if (options.writesReadme && benchmark.readme !== undefined)
    await updateReadme(
      fileURLToPath(new URL('../README.md', import.meta.url)),
      benchmark.name,
      renderReadmeTable(benchmark, benchmark.readme, results),
      { ...conditions, rounds },
    )
  const isDefault = engine === (benchmark.engines?.[0] ?? null)
  await compareWithBaseline(benchmark, results, isDefault ? name : `${name}-${engine}`, options)
}

async function compareWithBaseline(
  benchmark: Benchmark,
  results: Results,
  name: string,
  { isGated, savesBaseline }: Options,
): Promise<void> {
  if (!isGated && !savesBaseline) return
  const file = fileURLToPath(new URL(`baseline/${name}.json`, import.meta.url))
  const measured = collectRatios(benchmark, results)
  if (isGated) {
    const baseline = await readBaseline(file)
    if (baseline === undefined)
      throw new UsageError(`there is no baseline ${file}; --save-baseline makes one`)
    const losses = findLosses(baseline, measured)
    for (const loss of losses) process.stdout.write(`behind the baseline: ${describeLoss(loss)}\n`)
    if (losses.length > 0) process.exitCode = 1
    else process.stdout.write('no ratio is behind the baseline\n')
  }
  if (savesBaseline) await updateBaseline(file, measured)
}

/** All rounds in a workspace of their own, which is gone before anything is printed: printing may fail. */
async function measure(
  benchmark: Benchmark,
  subjects: readonly SubjectEntry[],
  rounds: number,
  choices: Choices,
): Promise<Results> {
  await using workspace = await openWorkspace()
  const { directory, signal } = workspace
  const settings = { directory, ...choices }
  return await runRounds(benchmark, subjects, { rounds, settings, signal, progress: new Progress() })
}

function findBenchmark(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name)
  if (found) return found
  throw new UsageError(`no benchmark '${name}'; there are ${benchmarks.map((each) => each.name).join(', ')}`)
}

function explain(error: unknown): unknown {
  if (error instanceof UsageError) return `${error.message}\nTry npm run bench -- --help`
  return error instanceof Interrupted ? error.message : error
}
