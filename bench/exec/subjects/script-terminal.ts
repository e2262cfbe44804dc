import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { ECHO, measureKeystrokes } from '../keystrokes.ts'

/** `script` alone, as whoever records a terminal uses it. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const line = ECHO.map((word) => `'${word}'`).join(' ')
  const argv = ['script', '--quiet', '--flush', '--command', line, '/dev/null']
  measureKeystrokes({ argv, cwd: settings.directory }, recorder, settings)
}
