import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { countBytes, getImportedFiles, IMPORT_PASSES } from '../imported-files.ts'
import { getProcessorTime } from '../processor-time.ts'

/**
 * Measures the processor time of an import, of the first `grep`, of a checkout, and of the first command in a fork; and
 * the size of the home beside the imported files, without and with its search index.
 */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getImportedFiles(settings)
  const passes = Array.from({ length: IMPORT_PASSES }, (_, pass) => {
    recorder.progress(`a vault, pass ${pass + 1}`)
    return measurePass(settings, files, `home-vault-${process.pid}-${pass}`)
  })
  const least = (work: keyof ReturnType<typeof measurePass>) => Math.min(...passes.map((pass) => pass[work]))
  for (const work of ['import', 'checkout', 'checkout-fork', 'grep-first'] as const)
    recorder.note(work, least(work))
  recorder.note('import-space', least('space'))
  recorder.note('index-space', least('indexed'))
}

function measurePass(settings: Settings, files: string, home: string) {
  const env = withHome(settings, home)
  const run = (...words: readonly string[]) =>
    getProcessorTime({ argv: coppice([], ...words), cwd: settings.directory, env })
  const time = run('import', files, '--vault', 'base')
  const imported = countBytes(join(settings.directory, home))
  const grep = run('grep', '-l', 'sideEffects', '--vault', 'base')
  const indexed = countBytes(join(settings.directory, home))
  const first = run('exec', '--vault', 'base', '--', 'true')
  const again = run('exec', '--vault', 'base', '--', 'true')
  const [program = '', ...args] = coppice([], 'fork', 'base', 'task')
  spawnSync(program, args, { env, cwd: settings.directory })
  const fork = run('exec', '--vault', 'task', '--', 'true')
  rmSync(join(settings.directory, home), { recursive: true })
  return {
    import: time,
    space: imported / countBytes(files),
    indexed: indexed / imported,
    'grep-first': grep,
    // The first command in a vault creates its checkout; the second one has it.
    checkout: first - again,
    'checkout-fork': fork,
  }
}
