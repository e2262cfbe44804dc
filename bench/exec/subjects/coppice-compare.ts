import { spawnSync } from 'node:child_process'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { COMPARED_FORKS, prepareDirectory, SIZES } from '../directories.ts'
import { measureStarts } from '../starts.ts'

const CHANGE = 'for file in 0 1 2 3 4 5 6 7 8 9; do echo changed >> d0/f$file.txt; done'

/** Measures the time from start to end of a comparison of forks, minus that of an empty Node program. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const cwd = prepareDirectory(SIZES.at(-1) ?? 0, settings)
  const env = withHome(settings, 'home-compare')
  recorder.progress('compare')
  for (let fork = 1; fork <= COMPARED_FORKS; fork++) {
    const [file = '', ...args] = coppice([], 'exec', '--fork', `fork-${fork}`, '--shell', '--', CHANGE)
    const { status, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`a fork to compare failed: ${stderr}`)
  }
  const [ours = 0, node = 0] = measureStarts([
    { argv: coppice([], 'compare'), cwd, env },
    { argv: [process.execPath, '-e', '0'], cwd, env },
  ])
  recorder.note('compare', ours - node)
}
