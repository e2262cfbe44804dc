import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePrograms } from '../programs.ts'
import { prepareProjects } from '../projects.ts'
import { createOverlayCommand } from '../shell-overlay.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const run = async (directory: string, script: string) => {
    const [file = '', ...args] = createOverlayCommand(settings, directory, script)
    return (await promisify(execFile)(file, args)).stdout
  }
  await measurePrograms(run, prepareProjects('unshare', settings), recorder)
}
