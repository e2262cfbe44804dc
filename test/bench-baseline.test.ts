import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  collectRatios,
  describeLoss,
  findLosses,
  readBaseline,
  updateBaseline,
} from '../bench/harness/baseline.ts'
import type { Benchmark } from '../bench/harness/benchmark.ts'
import { Results } from '../bench/harness/results.ts'

const BENCHMARK: Benchmark = {
  name: 'test',
  summary: '',
  subjects: [
    { name: 'ours', parts: [] },
    { name: 'disk', parts: [] },
  ],
  works: [
    { id: 'write', label: '', unit: 'rate' },
    { id: 'growth', label: '', unit: 'times' },
    { id: 'alone', label: '', unit: 'time' },
  ],
  targets: [],
  notes: [],
}

describe('the baseline of a benchmark', () => {
  it('has ratios to peers, and factors; times of ours alone say nothing on another machine', () => {
    expect(measure({ write: 2, growth: 4, alone: 1 })).toEqual({
      write: { disk: 0.5 },
      growth: { itself: 0.25 },
    })
  })

  it('reports a loss of more than 15 %, of rows that were measured', () => {
    const baseline = measure({ write: 2, growth: 4 })
    expect(findLosses(baseline, measure({ write: 2.3, growth: 4.6 }))).toEqual([])
    expect(findLosses(baseline, measure({ write: 1, growth: 1 }))).toEqual([])
    expect(findLosses(baseline, measure({ growth: 4 }))).toEqual([])
    expect(findLosses(baseline, measure({ write: 2.5, growth: 5 })).map(describeLoss)).toEqual([
      'write: 0.40× disk, was 0.50× (20 % lost)',
      'growth: 5.0×, was 4.0× (20 % lost)',
    ])
  })

  it('keeps the rows that a run of some parts has not measured', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-baseline-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'made', 'test.json')
    expect(await readBaseline(file)).toBeUndefined()
    await updateBaseline(file, measure({ write: 2, growth: 4 }))
    await updateBaseline(file, measure({ write: 3 }))
    expect(await readBaseline(file)).toEqual({ write: { disk: 0.333 }, growth: { itself: 0.25 } })
  })
})

function measure(ours: Readonly<Record<string, number>>) {
  const results = new Results()
  for (const [work, value] of Object.entries(ours)) results.add('ours', work, value)
  results.add('disk', 'write', 1)
  return collectRatios(BENCHMARK, results)
}
