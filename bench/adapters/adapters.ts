import type { Benchmark } from '../harness/benchmark.ts'
import { createSubjectFactory } from '../harness/entries.ts'
import { gitNotes, gitPart, gitTargets, gitWorks } from './git.ts'
import { bashNotes, bashPart, bashTargets, bashWorks } from './just-bash.ts'
import { pyodideNotes, pyodidePart, pyodideTargets, pyodideWorks } from './pyodide.ts'
import { s3Notes, s3Part, s3Targets, s3Works } from './s3.ts'

const subject = createSubjectFactory(import.meta.url)

/** Cost for other programs of working on our files instead of their own. */
export const adapters: Benchmark = {
  name: 'adapters',
  summary: 'the same work of others on their files and on ours',
  subjects: [subject('coppice', { ...bashPart, ...gitPart, ...pyodidePart, ...s3Part })],
  works: [...bashWorks, ...gitWorks, ...pyodideWorks, ...s3Works],
  targets: [...bashTargets, ...gitTargets, ...pyodideTargets, ...s3Targets],
  notes: [...bashNotes, ...gitNotes, ...pyodideNotes, ...s3Notes],
}
