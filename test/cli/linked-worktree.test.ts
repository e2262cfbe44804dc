import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

/** A user's home directory with a repository, and a linked worktree of it. */
class Worktree extends Cli {
  readonly repository: string
  readonly directory: string = join(this.files, 'linked')

  constructor(parent = '') {
    super()
    const main = join(this.files, parent, 'main')
    this.repository = join(main, '.git')
    mkdirSync(main, { recursive: true })
    writeFileSync(join(main, 'a'), 'one\n')
    this.git(main, 'init', '-q')
    this.git(main, 'add', '.')
    this.git(main, 'commit', '-q', '-m', 'one')
    this.git(main, 'worktree', 'add', '-q', this.directory, '-b', 'feat')
  }

  git(directory: string, ...args: string[]): string {
    const author = ['-c', 'user.name=n', '-c', 'user.email=e@example.com']
    return execFileSync('git', [...author, ...args], { cwd: directory, encoding: 'utf8' })
  }

  exec(line: string) {
    const options = { cwd: this.directory, env: { HOME: this.files } }
    return this.run(['exec', '--fork', 'fix', '--shell', '--', line], options)
  }
}

describe.skipIf(whyNoOverlay() !== undefined)('a fork of a linked worktree', () => {
  it('has a git that reads', async () => {
    const cli = new Worktree()
    const run = await cli.exec(
      'echo two >> a; git status --short; git diff --stat; git log --oneline; git branch',
    )
    expect(run).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ M a\n a \| 1 \+\n[\s\S]* one\n\* feat\n/),
    })
    expect(run.stderr).not.toContain('coppice:')
  })

  it('has no git that writes, says so, and leaves the repository as it is', async () => {
    const cli = new Worktree()
    const before = readdirSync(cli.repository, { recursive: true })
    const run = await cli.exec('echo two >> a; git add a && git -c user.name=n -c user.email=e commit -m two')
    expect(run.code).not.toBe(0)
    expect(run.stderr).toContain(
      `coppice: git can only read in a fork of a linked worktree: its repository, ${cli.repository}`,
    )
    expect(readdirSync(cli.repository, { recursive: true })).toEqual(before)
    await cli.run(['apply', 'fix'], { cwd: cli.directory })
    expect(readFileSync(join(cli.directory, 'a'), 'utf8')).toBe('one\ntwo\n')
    cli.git(cli.directory, 'commit', '-qam', 'two')
    expect((await cli.exec('git log --oneline')).stdout).toMatch(/ two\n.* one\n/)
  })

  it('does not see a repository in a directory that is hidden from commands', async () => {
    const cli = new Worktree('.ssh')
    const run = await cli.exec('ls -A "$HOME/.ssh"; git status')
    expect(run.stdout).toBe('')
    expect(run.code).not.toBe(0)
  })
})
