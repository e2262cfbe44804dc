import type { Target, Work } from '../harness/benchmark.ts'
import { time } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const ours = new Targets('coppice')

/** Module of the part on Pyodide. */
export const pyodidePart = { pyodide: './pyodide/read-files.ts' }

export const pyodideWorks: readonly Work[] = [
  time('python-theirs', 'Python reads a file of MEMFS'),
  time('python-memory', 'the same of MemoryFs'),
  time('python-vault', 'the same of a vault'),
  time('python-thread', 'the same of MemoryFs in another thread'),
]

export const pyodideTargets: readonly Target[] = [
  ours.slowdown('Pyodide on MemoryFs at most 1.5× of MEMFS', 1.5, 'python-memory', 'python-theirs'),
]

export const pyodideNotes: readonly string[] = [
  'Pyodide: Python opens and reads 1,000 files of 2 KB three directories deep, divided by 1,000.',
]
