import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { prepareDirectory, SIZES } from '../directories.ts'
import { measureStarts } from '../starts.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  for (const size of SIZES) {
    const cwd = prepareDirectory(size, settings)
    const host = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']
    const argv = ['bwrap', '--unshare-all', ...host, '--bind', cwd, cwd, 'true']
    const [seconds = 0] = measureStarts([{ argv, cwd }])
    recorder.note(`start-${size}`, seconds)
  }
}
