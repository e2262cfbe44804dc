import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { TimedProgram } from './processor-time.ts'

const AUTHOR = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']

/** A new repository of git beside the files that it tracks. */
export class Repository {
  readonly #path: string
  readonly #files: string

  constructor(path: string, files: string) {
    this.#path = path
    this.#files = files
    this.#run('init', '-q')
  }

  /** Returns the program that adds all files. */
  add(): TimedProgram {
    return { argv: this.#git('add', '-A', '--force'), cwd: this.#files, env: process.env }
  }

  commit(): void {
    this.#run('commit', '-q', '-m', 'files')
  }

  /** Returns the program that checks everything out beside the repository. */
  addWorktree(): TimedProgram {
    const argv = ['git', `--git-dir=${this.#path}`, 'worktree', 'add', '-q', '--detach', `${this.#path}-tree`]
    return { argv, cwd: this.#files, env: process.env }
  }

  remove(): void {
    execFileSync('rm', ['-rf', `${this.#path}-tree`])
    rmSync(this.#path, { recursive: true })
  }

  #run(...words: readonly string[]): void {
    const [program = '', ...args] = this.#git(...words)
    execFileSync(program, args, { cwd: this.#files })
  }

  #git(...words: readonly string[]): string[] {
    return ['git', `--git-dir=${this.#path}`, `--work-tree=${this.#files}`, ...AUTHOR, ...words]
  }
}
