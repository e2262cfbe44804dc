import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { ECHO, measureKeystrokes } from '../keystrokes.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  measureKeystrokes({ argv: ECHO, cwd: settings.directory }, recorder, settings)
}
