import type { Benchmark, Choices, SubjectEntry, Target, Work } from './benchmark.ts'
import { type Conditions, describeConditions } from './conditions.ts'
import { formatMeasurement, formatRatio } from './format.ts'
import type { Results } from './results.ts'
import { applyStyle, type Cell, renderTable } from './table.ts'

const NOT_MEASURED = '–'

/** The table, what it leaves unsaid, and the targets. */
export function renderReport(
  benchmark: Benchmark,
  subjects: readonly SubjectEntry[],
  results: Results,
  conditions: Conditions,
  choices: Choices,
): string {
  const [ours] = benchmark.subjects
  const peers = subjects.filter(({ name }) => name !== ours.name)
  const legend =
    peers.length > 0
      ? `n× behind a number: ${ours.name} is n times as fast, or as small. Medians of the rounds.`
      : ''
  return [
    renderTable([
      createHeader(ours, peers),
      ...benchmark.works
        .filter(({ id }) => benchmark.subjects.some(({ name }) => results.isKnown(name, id)))
        .map((work) => createTableRow(work, ours, peers, results)),
    ]),
    [describeConditions(conditions), ...describeChoices(choices), legend, ...benchmark.notes]
      .filter((note) => note !== '')
      .join('\n'),
    renderTargets(benchmark.targets, results, isSelection(benchmark, subjects)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function describeChoices({ isQuick, engine }: Choices): string[] {
  return [
    ...(engine === null ? [] : [`Engine ${engine}.`]),
    ...(isQuick
      ? ['Quick: a twentieth of every size the labels name. The targets are meant for all of it.']
      : []),
  ]
}

function createHeader(ours: SubjectEntry, peers: readonly SubjectEntry[]): Cell[] {
  const title = (text: string, align: Cell['align']): Cell => ({ text, align, style: 'bold' })
  return [
    title('work', 'left'),
    title(ours.name, 'right'),
    ...peers.flatMap(({ name }) => [title(name, 'right'), title('', 'right')]),
  ]
}

function createTableRow(
  work: Work,
  ours: SubjectEntry,
  peers: readonly SubjectEntry[],
  results: Results,
): Cell[] {
  return [
    { text: work.label, align: 'left' },
    createMeasurementCell(work, ours, results),
    ...peers.flatMap((peer) => [
      createMeasurementCell(work, peer, results),
      createRatioCell(results.speedup(ours.name, peer.name, work.id)),
    ]),
  ]
}

function createMeasurementCell({ id, unit }: Work, { name }: SubjectEntry, results: Results): Cell {
  const value = results.value(name, id)
  if (value !== undefined) return { text: formatMeasurement(value, unit), align: 'right' }
  return { text: results.getSkipReason(name, id) ?? NOT_MEASURED, align: 'right', style: 'dim' }
}

function createRatioCell(ratio: number | undefined): Cell {
  if (ratio === undefined) return { text: '', align: 'left' }
  return { text: formatRatio(ratio), align: 'left', style: ratio >= 1 ? 'green' : 'red' }
}

/** True if only some subjects or parts were run, so that many targets stay open. */
function isSelection(benchmark: Benchmark, subjects: readonly SubjectEntry[]): boolean {
  const parts = (all: readonly SubjectEntry[]) => all.flatMap((subject) => subject.parts).length
  return parts(subjects) < parts(benchmark.subjects)
}

function renderTargets(targets: readonly Target[], results: Results, onlyJudged: boolean): string {
  const rows = targets
    .filter(({ judge }) => !onlyJudged || judge(results) !== undefined)
    .map((target) => createTargetRow(target, results))
  return rows.length === 0 ? '' : `${applyStyle('bold', 'targets')}\n${renderTable(rows)}`
}

function createTargetRow({ label, judge }: Target, results: Results): Cell[] {
  const verdict = judge(results)
  const found = { text: verdict?.found ?? '', align: 'left' } as const
  if (verdict === undefined) {
    return [{ text: '  not measured', align: 'left', style: 'dim' }, { text: label, align: 'left' }, found]
  }
  const state: Cell = verdict.isReached
    ? { text: '✓ reached', align: 'left', style: 'green' }
    : { text: '✗ not reached', align: 'left', style: 'red' }
  return [state, { text: label, align: 'left' }, found]
}
