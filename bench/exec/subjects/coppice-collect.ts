import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { prepareDirectory, SIZES } from '../directories.ts'

const STEP_TIMES = fileURLToPath(new URL('../step-times.ts', import.meta.url))
const PASSES = 5
const CHANGES = 2000
const MILLISECOND = 1e-3

/** Measures single steps of `coppice exec`, in a process for each run. `step-times.ts` reports what each step took. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const directory = prepareDirectory(SIZES.at(-1) ?? 0, settings)
  recorder.progress('collect')
  const changed = Array.from({ length: PASSES }, () =>
    timeStep('summarise', settings, directory, 'for i in 0 1 2 3 4 5 6 7 8 9; do echo x > d0/f$i.txt; done'),
  )
  recorder.note('collect', Math.min(...changed))
  recorder.progress('stage')
  timeStep('run', settings, directory, `seq ${CHANGES} | while read i; do echo $i > new$i; done`, 'many')
  recorder.note('stage', timeStep('session', settings, directory, 'true', 'many'))
}

/** Runs a command in a fork, and returns the seconds that one step of `execute.ts` took. */
function timeStep(step: string, settings: Settings, cwd: string, line: string, fork?: string): number {
  const times = join(settings.directory, 'step-times.json')
  const named = fork === undefined ? [] : ['--fork', fork]
  const [file = '', ...args] = coppice(['--import', STEP_TIMES], 'exec', ...named, '--shell', '--', line)
  const env = { ...withHome(settings, 'home-collect'), STEP_TIMES: times }
  const { status, stderr } = spawnSync(file, args, { cwd, env })
  if (status !== 0) throw new Error(`'${line}' failed: ${stderr}`)
  const known: Record<string, number> = JSON.parse(readFileSync(times, 'utf8'))
  return (known[step] ?? Number.NaN) * MILLISECOND
}
