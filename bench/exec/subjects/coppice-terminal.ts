import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { prepareDirectory, SIZES } from '../directories.ts'
import { ECHO, measureKeystrokes } from '../keystrokes.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const cwd = prepareDirectory(SIZES[0] ?? 0, settings)
  const env = withHome(settings, 'home-terminal')
  measureKeystrokes({ argv: coppice([], 'exec', '--', ...ECHO), cwd, env }, recorder, settings)
}
