import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Benchmark, ReadmeTable } from '../bench/harness/benchmark.ts'
import { renderReadmeTable, updateReadme } from '../bench/harness/readme.ts'
import { Results } from '../bench/harness/results.ts'
import { store } from '../bench/store/store.ts'

const TABLE: ReadmeTable = {
  columns: [
    { subject: 'ours', title: 'ours' },
    { subject: 'disk', title: 'the disk' },
  ],
  rows: [
    { label: 'write', works: ['write'] },
    { label: 'walk', works: ['walk', 'memory'] },
  ],
}
const BENCHMARK: Benchmark = {
  name: 'test',
  summary: '',
  subjects: [
    { name: 'ours', parts: [] },
    { name: 'disk', parts: [] },
  ],
  works: [
    { id: 'write', label: '', unit: 'rate' },
    { id: 'walk', label: '', unit: 'time' },
    { id: 'memory', label: '', unit: 'bytes' },
  ],
  targets: [],
  notes: [],
}
const CONDITIONS = { rounds: 3, platform: 'linux x64', cores: 2, node: 'v24.0.0' }

describe("README's table of a benchmark", () => {
  it('has the medians, several in one cell, and a dash for what a peer does not do', async () => {
    const results = new Results()
    for (const value of [1, 0.5, 0.1]) results.add('ours', 'write', value)
    results.add('disk', 'write', 0.001)
    results.add('ours', 'walk', 2)
    results.add('ours', 'memory', 3e6)
    const table = renderReadmeTable(BENCHMARK, TABLE, results)
    expect(table).toBe(
      '| work | ours | the disk |\n| --- | --- | --- |\n| write | 2.0 /s | 1.0 k/s |\n| walk | 2.0 s, 3.0 MB | – |',
    )

    const directory = mkdtempSync(join(tmpdir(), 'coppice-readme-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'README.md')
    writeFileSync(file, 'before\n<!-- bench test -->\nold\n<!-- end -->\nafter\n')
    await updateReadme(file, 'test', table, CONDITIONS)
    await updateReadme(file, 'test', table, CONDITIONS)
    expect(readFileSync(file, 'utf8')).toBe(
      `before\n<!-- bench test -->\nMedians of 3 rounds on linux x64 with 2 cores, Node v24.0.0:\n\n${table}\n<!-- end -->\nafter\n`,
    )
    await expect(updateReadme(file, 'other', table, CONDITIONS)).rejects.toThrow('has no place for a table')
  })

  it('is refused while a number of ours is missing', () => {
    const results = new Results()
    results.add('ours', 'write', 1)
    expect(() => renderReadmeTable(BENCHMARK, TABLE, results)).toThrow('walk and memory')
  })

  it('has works that the benchmark measures', () => {
    const measured = store.works.map(({ id }) => id)
    for (const { works } of store.readme?.rows ?? [])
      expect(measured).toEqual(expect.arrayContaining([...works]))
    expect(readFileSync('README.md', 'utf8')).toMatch(
      /<!-- bench store -->\nMedians of 3 rounds [\s\S]*\n<!-- end -->/,
    )
  })
})
