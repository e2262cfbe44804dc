import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { directoryOf, SIZES } from '../directories.ts'
import { overlaidBy } from '../shell-overlay.ts'
import { fastest } from '../starts.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  for (const size of SIZES) {
    const directory = directoryOf(size, settings)
    const [seconds = 0] = fastest([{ argv: overlaidBy(settings, directory, 'true'), cwd: directory }])
    recorder.note(`start-${size}`, seconds)
  }
}
