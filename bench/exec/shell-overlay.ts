import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'

/** Returns the command line that runs a script in a directory with an overlay over it, as a person would type it. */
export function createOverlayCommand(
  { directory: scratch }: Settings,
  directory: string,
  script: string,
): string[] {
  const [upper, work] = ['upper', 'work'].map((name) => join(scratch, 'unshare', basename(directory), name))
  for (const path of [upper, work]) if (path !== undefined) mkdirSync(path, { recursive: true })
  const options = `lowerdir=${directory},upperdir=${upper},workdir=${work}`
  const lines = `mount -t overlay -o ${options} overlay ${directory} && cd ${directory} && ${script}`
  return ['unshare', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c', lines]
}
