import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { prepareDirectory, SIZES } from '../directories.ts'
import { measureStarts } from '../starts.ts'

/** Measures the time from start to end of a command in a fork, minus that of an empty Node program. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const cwd = prepareDirectory(SIZES[0] ?? 0, settings)
  const env = withHome(settings, 'home-enter')
  const enter = (work: string, fork: string) => {
    recorder.progress(work)
    const [ours = 0, node = 0] = measureStarts([
      { argv: coppice([], 'enter', fork, '--', 'true'), cwd, env },
      { argv: [process.execPath, '-e', '0'], cwd, env },
    ])
    recorder.note(work, ours - node)
  }
  const start = (fork: string, line: string) => {
    const [file = '', ...args] = coppice([], 'exec', '--fork', fork, '--shell', '--', line)
    return spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  }
  await once(start('kept', 'echo new > new'), 'exit')
  enter('enter-kept', 'kept')
  const running = start('busy', 'echo ready; exec sleep 300')
  await once(running.stdout, 'data')
  try {
    enter('enter-running', 'busy')
  } finally {
    running.kill('SIGTERM')
    await once(running, 'exit')
  }
}
