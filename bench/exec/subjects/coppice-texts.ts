import { execFileSync } from 'node:child_process'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { getSmallTexts, IMPORT_PASSES } from '../imported-files.ts'
import { getElapsedTime } from '../processor-time.ts'

/**
 * Elapsed time of an import of many small texts, and of the first command in the vault. Nothing is removed before the end
 * of the run: ext4 creates files slowly for minutes after that.
 */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getSmallTexts(settings)
  const passes = Array.from({ length: IMPORT_PASSES }, (_, pass) => {
    recorder.progress(`small texts in a vault, pass ${pass + 1}`)
    const home = `home-texts-${process.pid}-${pass}`
    const place = { cwd: settings.directory, env: withHome(settings, home) }
    const run = (...words: readonly string[]) => getElapsedTime({ argv: coppice([], ...words), ...place })
    const imported = run('import', files, '--vault', 'base')
    execFileSync('sync')
    const checkout =
      run('exec', '--vault', 'base', '--', 'true') - run('exec', '--vault', 'base', '--', 'true')
    return { imported, checkout }
  })
  recorder.note('import-texts', Math.min(...passes.map(({ imported }) => imported)))
  recorder.note('checkout-texts', Math.min(...passes.map(({ checkout }) => checkout)))
}
