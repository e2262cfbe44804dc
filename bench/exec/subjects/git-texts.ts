import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { getSmallTexts, IMPORT_PASSES } from '../imported-files.ts'
import { getElapsedTime } from '../processor-time.ts'
import { Repository } from '../repository.ts'

/** Elapsed time of `git add -A` of many small texts, and of `git worktree add`. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getSmallTexts(settings)
  const passes = Array.from({ length: IMPORT_PASSES }, (_, pass) => {
    recorder.progress(`small texts in a repository, pass ${pass + 1}`)
    const repository = new Repository(join(settings.directory, `texts-${process.pid}-${pass}`), files)
    const imported = getElapsedTime(repository.add())
    repository.commit()
    execFileSync('sync')
    const checkout = getElapsedTime(repository.addWorktree())
    return { imported, checkout }
  })
  recorder.note('import-texts', Math.min(...passes.map(({ imported }) => imported)))
  recorder.note('checkout-texts', Math.min(...passes.map(({ checkout }) => checkout)))
}
