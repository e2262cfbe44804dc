import { readFile, writeFile } from 'node:fs/promises'
import type { Benchmark, ReadmeTable } from './benchmark.ts'
import type { Conditions } from './conditions.ts'
import { formatMeasurement } from './format.ts'
import { UsageError } from './options.ts'
import type { Results } from './results.ts'

const NOT_MEASURED = '–'

/** Renders the table of a benchmark that README.md shows. UsageError if a number of ours was not measured. */
export function renderReadmeTable(
  { name, subjects: [ours], works }: Benchmark,
  { columns, rows }: ReadmeTable,
  results: Results,
): string {
  const formatCell = (subject: string, ids: readonly string[]) => {
    const numbers = ids.flatMap((id) => {
      const [work, value] = [works.find((each) => each.id === id), results.value(subject, id)]
      return work === undefined || value === undefined ? [] : [formatMeasurement(value, work.unit)]
    })
    if (subject === ours.name && numbers.length < ids.length)
      throw new UsageError(
        `README's table has ${ids.join(' and ')}, which this run of ${name} did not measure`,
      )
    return numbers.length === 0 ? NOT_MEASURED : numbers.join(', ')
  }
  const formatRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    formatRow(['work', ...columns.map(({ title }) => title)]),
    formatRow(['work', ...columns].map(() => '---')),
    ...rows.map(({ label, works: ids }) =>
      formatRow([label, ...columns.map(({ subject }) => formatCell(subject, ids))]),
    ),
  ].join('\n')
}

/** Writes a table, and how it was measured, between the marks of a benchmark in a file. */
export async function updateReadme(
  file: string,
  benchmark: string,
  table: string,
  {
    rounds,
    platform,
    cores,
    node,
  }: Pick<Conditions, 'platform' | 'cores' | 'node'> & { readonly rounds: number },
): Promise<void> {
  const [begin, end] = [`<!-- bench ${benchmark} -->`, '<!-- end -->']
  const text = await readFile(file, 'utf8')
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end, from)
  if (from < begin.length || to < 0)
    throw new UsageError(`${file} has no place for a table: ${begin} … ${end}`)
  const how = `Medians of ${rounds} rounds on ${platform} with ${cores} cores, Node ${node}:`
  await writeFile(file, `${text.slice(0, from)}\n${how}\n\n${table}\n${text.slice(to)}`)
}
