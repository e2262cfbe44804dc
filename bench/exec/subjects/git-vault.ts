import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { getImportedFiles, IMPORT_PASSES } from '../imported-files.ts'
import { getProcessorTime } from '../processor-time.ts'
import { Repository } from '../repository.ts'

/** Processor time of `git add -A` into a new repository, and of `git worktree add` of what it added. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getImportedFiles(settings)
  const adds: number[] = []
  const worktrees: number[] = []
  for (let pass = 0; pass < IMPORT_PASSES; pass++) {
    recorder.progress(`a repository, pass ${pass + 1}`)
    const repository = new Repository(join(settings.directory, `repository-${process.pid}-${pass}`), files)
    adds.push(getProcessorTime(repository.add()))
    repository.commit()
    worktrees.push(getProcessorTime(repository.addWorktree()))
    repository.remove()
  }
  recorder.note('import', Math.min(...adds))
  recorder.note('checkout', Math.min(...worktrees))
}
