import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { Cli } from './run-cli.ts'

const BY = ['-c', 'user.name=a', '-c', 'user.email=b']

/** A repository with one commit. */
class Repository {
  readonly cli: Cli = new Cli()

  constructor() {
    git(['init', '-q', '-b', 'main', this.cli.files])
    this.commit('first', 'a.txt')
  }

  git(...args: string[]): string {
    return git(['-C', this.cli.files, ...BY, ...args]).toString()
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.cli.files, name), text)
  }

  commit(message: string, file: string): void {
    this.write(file, `${message}\n`)
    this.git('add', file)
    this.git('commit', '-q', '-m', message)
  }

  /** Runs a script in a fork, where `commit MESSAGE FILE` is a command. */
  async fork(name: string, script: string): Promise<void> {
    const commit = `commit() { echo "$1" > "$2"; git add "$2"; git ${BY.join(' ')} commit -q -m "$1"; }`
    const run = await this.cli.run(['exec', '--fork', name, '-c', '--', `${commit}; ${script}`])
    expect(run.code, run.stderr).toBe(0)
  }

  log(branch: string): string[] {
    return this.git('log', '--format=%s', branch).trim().split('\n')
  }

  /** Checks every object, ref and the index. */
  check(): void {
    expect(this.git('fsck', '--full', '--strict')).not.toMatch(/missing|corrupt|error/)
    this.git('status')
  }
}

it('brings commits of a fork on a new branch, beside commits made here meanwhile', async () => {
  const repository = new Repository()
  const { cli } = repository
  await repository.fork('f', 'git checkout -q -b feat; commit one one.txt; commit two two.txt')
  repository.commit('mine', 'mine.txt')
  repository.git('stash', 'list')
  expect(await cli.ok('apply', 'f', '--', 'one.txt')).toContain('of f to this directory; 2 changes stay')
  await cli.ok('apply', 'f', '--undo')
  const stdout = await cli.ok('apply', 'f')
  expect(stdout).toContain('git: 2 commits on feat, feat checked out\n')
  expect(stdout).not.toContain('.git/objects')
  expect([repository.log('feat'), repository.log('main')]).toEqual([
    ['two', 'one', 'first'],
    ['mine', 'first'],
  ])
  repository.check()
  const reflog = readFileSync(join(cli.files, '.git/logs/HEAD'), 'utf8')
  expect([...reflog.matchAll(/commit: (\w+)/g)].map(([, name]) => name)).toEqual(['mine', 'one', 'two'])
})

it('undoes commits, and leaves the objects that others may use by then', async () => {
  const repository = new Repository()
  const { cli } = repository
  await repository.fork('f', 'git checkout -q -b feat; commit one one.txt')
  await cli.ok('apply', 'f')
  // The same content as in the fork: git does not store it again.
  repository.git('checkout', '-q', 'main')
  repository.commit('one', 'same.txt')
  repository.git('checkout', '-q', 'feat')
  expect(await cli.ok('apply', 'f', '--undo')).toContain('git: feat deleted, main checked out\n')
  repository.check()
  expect(repository.git('branch', '--format=%(refname:short)')).toBe('main\n')
  expect(repository.git('show', 'main:same.txt')).toBe('one\n')
  await cli.ok('apply', 'f')
  expect(repository.log('feat')).toEqual(['one', 'first'])
})

it('moves a branch forward, and refuses where both have commits on it', async () => {
  const repository = new Repository()
  const { cli } = repository
  await repository.fork('f', 'commit one one.txt')
  await cli.ok('apply', 'f')
  expect(repository.log('main')).toEqual(['one', 'first'])
  await repository.fork('g', 'commit two two.txt')
  repository.commit('mine', 'mine.txt')
  const { code, stderr } = await cli.run(['apply', 'g', '--markers'])
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('C /.git/refs/heads/main has other commits here'),
  ])
  expect(repository.log('main')).toEqual(['mine', 'one', 'first'])
  // The printed command takes the files without the commits.
  expect(stderr).toContain("coppice apply g --markers -- ':!/.git'")
  await cli.ok('apply', 'g', '--markers', '--', ':!/.git')
  expect(repository.git('status', '--porcelain')).toBe('?? two.txt\n')
  repository.check()
})

it('offers nothing that cannot succeed where commits and lines are in conflict', async () => {
  const { cli, files } = await openRivals()
  const applied = await cli.run(['apply', 'g', '--merge'])
  expect([applied.code, applied.stderr]).toEqual([3, expect.not.stringContaining('coppice resolve')])
  expect(applied.stderr).toContain("Merge the other files with: coppice apply g --merge -- ':!/.git'\n")
  const others = await cli.run(['apply', 'g', '--merge', '--', ':!/.git'])
  expect([others.code, others.stderr]).toEqual([3, expect.stringContaining('coppice resolve /a.txt --ours')])
  await cli.ok('resolve', 'a.txt', '--theirs')
  await cli.ok('apply', '--continue')
  expect(readFileSync(join(files, 'a.txt'), 'utf8')).toBe('g\n')

  const merged = await cli.run(['merge', 'g', 'h'])
  const hint = 'give the merge up with: coppice merge --abort\nLet git merge its commits: coppice git export'
  for (const { stderr, stdout } of [
    merged,
    await cli.run(['conflicts']),
    await cli.run(['merge', '--continue']),
  ]) {
    expect(stdout + stderr).toContain(hint)
    expect(stdout + stderr).not.toMatch(/coppice resolve|--theirs/)
  }
  await cli.ok('merge', '--abort')
})

/** Opens a repository with two forks that committed to the same file and branch, as the directory did. */
async function openRivals(): Promise<{ readonly cli: Cli; readonly files: string }> {
  const repository = new Repository()
  await repository.fork('g', 'commit g a.txt')
  await repository.fork('h', 'commit h a.txt')
  repository.commit('mine', 'a.txt')
  return { cli: repository.cli, files: repository.cli.files }
}

it('is not blocked by git commands that run while the fork is used', async () => {
  const repository = new Repository()
  const { cli } = repository
  repository.write('b.txt', 'b\n')
  const script = `commit one one.txt; echo ready > /dev/stderr; while [ ! -e go ]; do read line; echo > go; done; rm go`
  const commit = `commit() { echo "$1" > "$2"; git add "$2"; git ${BY.join(' ')} commit -q -m "$1"; }`
  const child = cli.start(['exec', '--fork', 'f', '-c', '--', `${commit}; ${script}`])
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk) => String(chunk).includes('ready') && resolve())
  })
  // An editor refreshes the index, and a person stages a file.
  repository.git('add', 'b.txt')
  child.stdin.end('go\n')
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  expect(await cli.ok('apply', 'f')).toContain('git: 1 commit on main')
  expect(repository.log('main')).toEqual(['one', 'first'])
  repository.check()
  expect(readFileSync(join(cli.files, 'b.txt'), 'utf8')).toBe('b\n')
})

it('removes a repository that the fork created, with all of it', async () => {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a.txt'), 'a\n')
  await cli.run([
    'exec',
    '--fork',
    'f',
    '-c',
    '--',
    `git init -q; git add .; git ${BY.join(' ')} commit -q -m x`,
  ])
  await cli.ok('apply', 'f')
  expect(git(['-C', cli.files, 'log', '--format=%s']).toString()).toBe('x\n')
  await cli.ok('apply', 'f', '--undo')
  expect(() => git(['-C', cli.files, 'rev-parse', '--git-dir'])).toThrow()
})
