import { spawnSync } from 'node:child_process'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { prepareDirectory, SIZES } from '../directories.ts'
import { measureStarts } from '../starts.ts'

/** Measures the time from start to end, minus that of an empty Node program. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const env = withHome(settings, 'home-start')
  const more = (work: string, argv: readonly string[], cwd: string) => {
    recorder.progress(work)
    const [ours = 0, node = 0] = measureStarts([
      { argv, cwd, env },
      { argv: [process.execPath, '-e', '0'], cwd, env },
    ])
    recorder.note(work, ours - node)
  }
  for (const size of SIZES)
    more(`start-${size}`, coppice([], 'exec', '--', 'true'), prepareDirectory(size, settings))
  const [file = '', ...args] = coppice([], 'vault', 'create', 'v')
  spawnSync(file, args, { env })
  more('version', coppice([], '--version'), settings.directory)
  more('help', coppice([], '--help'), settings.directory)
  more('ls', coppice([], 'ls', '--vault', 'v'), settings.directory)
}
