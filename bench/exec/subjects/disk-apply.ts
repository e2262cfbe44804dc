import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { APPLY_PASSES, getAppliedFiles } from '../applied-files.ts'
import { getProcessorTime } from '../processor-time.ts'

/** Processor time of `cp -a` with the files that an apply writes. Nothing is removed in between, as for an apply. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getAppliedFiles(settings)
  const times = Array.from({ length: APPLY_PASSES }, (_, pass) => {
    const argv = ['cp', '-a', files, join(settings.directory, `applied-copy-${process.pid}-${pass}`)]
    return getProcessorTime({ argv, cwd: settings.directory, env: process.env })
  })
  recorder.note('apply', Math.min(...times))
}
