import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { prepareDirectory, SIZES } from '../directories.ts'
import { createOverlayCommand } from '../shell-overlay.ts'
import { measureStarts } from '../starts.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  for (const size of SIZES) {
    const directory = prepareDirectory(size, settings)
    const [seconds = 0] = measureStarts([
      { argv: createOverlayCommand(settings, directory, 'true'), cwd: directory },
    ])
    recorder.note(`start-${size}`, seconds)
  }
}
