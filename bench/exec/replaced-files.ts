import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'
import { APPLY_PASSES, createAppliedProject, getAppliedFiles } from './applied-files.ts'
import { getProcessorTime } from './processor-time.ts'

/**
 * Measures the processor time of a program that replaces the files of an apply so that a kill can be undone, less that of
 * another program, the start of both.
 */
export function measureReplacing(
  name: string,
  program: readonly string[],
  start: readonly string[],
  settings: Settings,
): number {
  const files = getAppliedFiles(settings)
  const measureProgram = (argv: readonly string[]) =>
    getProcessorTime({ argv, cwd: settings.directory, env: process.env })
  const times = Array.from({ length: APPLY_PASSES }, (_, pass) => {
    const project = join(settings.directory, `replaced-${name}-${process.pid}-${pass}`)
    createAppliedProject(project)
    return measureProgram([...program, files, project]) - measureProgram(start)
  })
  return Math.min(...times)
}
