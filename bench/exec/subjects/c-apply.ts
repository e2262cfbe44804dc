import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureReplacing } from '../replaced-files.ts'

const SOURCE = fileURLToPath(new URL('../replace-files.c', import.meta.url))

/** Processor time of a program in C that replaces the same files so that a kill can be undone. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  if (spawnSync('cc', ['--version'], { stdio: 'ignore' }).status !== 0) {
    recorder.skip('apply', 'there is no C compiler')
    return
  }
  const program = join(settings.directory, `replace-files-${process.pid}`)
  execFileSync('cc', ['-O2', '-o', program, SOURCE])
  recorder.note('apply', measureReplacing('c', [program], ['true'], settings))
}
