import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { APPLY_PASSES, createAppliedProject, getAppliedFiles } from '../applied-files.ts'
import { getProcessorTime } from '../processor-time.ts'

const PROGRAM = fileURLToPath(new URL('../replace-files.ts', import.meta.url))

/** Processor time of a plain program of Node that replaces the same files so that a kill can be undone. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getAppliedFiles(settings)
  const measureProgram = (...args: readonly string[]) =>
    getProcessorTime({ argv: [process.execPath, ...args], cwd: settings.directory, env: process.env })
  const times = Array.from({ length: APPLY_PASSES }, (_, pass) => {
    const project = join(settings.directory, `replaced-${process.pid}-${pass}`)
    createAppliedProject(project)
    return measureProgram(PROGRAM, files, project) - measureProgram('-e', '0')
  })
  recorder.note('apply', Math.min(...times))
}
