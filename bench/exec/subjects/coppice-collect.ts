import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { directoryOf, SIZES } from '../directories.ts'

const STEP_TIMES = fileURLToPath(new URL('../step-times.ts', import.meta.url))
const PASSES = 5
const CHANGES = 2000
const MILLISECOND = 1e-3

/** Steps of single runs of the program, each in a process of its own. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const directory = directoryOf(SIZES.at(-1) ?? 0, settings)
  recorder.progress('collect')
  const changed = Array.from({ length: PASSES }, () =>
    stepOf('summarise', settings, directory, 'for i in 0 1 2 3 4 5 6 7 8 9; do echo x > d0/f$i.txt; done'),
  )
  recorder.note('collect', Math.min(...changed))
  recorder.progress('stage')
  stepOf('run', settings, directory, `seq ${CHANGES} | while read i; do echo $i > new$i; done`, 'many')
  recorder.note('stage', stepOf('session', settings, directory, 'true', 'many'))
}

/** How many seconds a step of one run takes. */
function stepOf(step: string, settings: Settings, cwd: string, line: string, fork?: string): number {
  const times = join(settings.directory, 'step-times.json')
  const named = fork === undefined ? [] : ['--fork', fork]
  const [file = '', ...args] = coppice(['--import', STEP_TIMES], 'exec', ...named, '--shell', '--', line)
  const env = { ...withHome(settings, 'home-collect'), STEP_TIMES: times }
  const { status, stderr } = spawnSync(file, args, { cwd, env })
  if (status !== 0) throw new Error(`'${line}' failed: ${stderr}`)
  const known: Record<string, number> = JSON.parse(readFileSync(times, 'utf8'))
  return (known[step] ?? Number.NaN) * MILLISECOND
}
