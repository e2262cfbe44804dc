import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePrograms } from '../programs.ts'
import { prepareProjects } from '../projects.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const run = async (cwd: string, script: string) =>
    (await promisify(execFile)('sh', ['-c', script], { cwd })).stdout
  await measurePrograms(run, prepareProjects('disk', settings), recorder)
}
