import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { getImportedFiles, IMPORT_PASSES } from '../imported-files.ts'
import { getProcessorTime } from '../processor-time.ts'

const AUTHOR = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']

/** Processor time of `git add -A` into a new repository, and of `git worktree add` of what it added. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = getImportedFiles(settings)
  const adds: number[] = []
  const worktrees: number[] = []
  for (let pass = 0; pass < IMPORT_PASSES; pass++) {
    recorder.progress(`a repository, pass ${pass + 1}`)
    const repository = join(settings.directory, `repository-${process.pid}-${pass}`)
    const tree = `${repository}-tree`
    const git = ['git', `--git-dir=${repository}`, `--work-tree=${files}`, ...AUTHOR]
    const run = (...words: readonly string[]) =>
      getProcessorTime({ argv: [...git, ...words], cwd: files, env: process.env })
    run('init', '-q')
    adds.push(run('add', '-A', '--force'))
    run('commit', '-q', '-m', 'files')
    const add = ['git', `--git-dir=${repository}`, 'worktree', 'add', '-q', '--detach', tree]
    worktrees.push(getProcessorTime({ argv: add, cwd: settings.directory, env: process.env }))
    execFileSync('rm', ['-rf', tree])
    rmSync(repository, { recursive: true })
  }
  recorder.note('import', Math.min(...adds))
  recorder.note('checkout', Math.min(...worktrees))
}
