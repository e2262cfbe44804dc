import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { Cli } from './run-cli.ts'

const BY = ['-c', 'user.name=a', '-c', 'user.email=b']

/** Creates a repository with an index of a version, and a fork with a commit. */
async function committedInside(version: string, format = 'sha1'): Promise<Cli> {
  const cli = new Cli()
  git(['init', '-q', `--object-format=${format}`, cli.files])
  git(['-C', cli.files, 'config', 'index.version', version])
  writeFileSync(join(cli.files, 'a.txt'), 'one\n')
  writeFileSync(join(cli.files, 'a-much-longer-name.txt'), 'two\n')
  git(['-C', cli.files, 'add', '.'])
  git(['-C', cli.files, ...BY, 'commit', '-q', '-m', 'first'])
  const inside = `echo c > c.txt && git add c.txt && git ${BY.join(' ')} commit -q -m inside`
  expect(await cli.run(['exec', '-c', '--', inside])).toMatchObject({ code: 0 })
  return cli
}

/** Lets `git status` rewrite the index with other times. */
function refresh(cli: Cli, seconds: number): void {
  const index = () => readFileSync(join(cli.files, '.git/index'))
  const before = index()
  utimesSync(join(cli.files, 'a.txt'), seconds, seconds)
  git(['-C', cli.files, 'status'])
  expect(index().equals(before)).toBe(false)
}

it.each([
  ['2', 'sha1'],
  ['4', 'sha1'],
  ['2', 'sha256'],
])('git status blocks neither apply nor undo (index version %s, %s)', async (version, format) => {
  const cli = await committedInside(version, format)
  refresh(cli, 1_700_000_000)
  await cli.ok('apply')
  expect(git(['-C', cli.files, 'log', '--format=%s']).toString()).toBe('inside\nfirst\n')
  refresh(cli, 1_700_000_100)
  await cli.ok('apply', '--undo')
  expect(git(['-C', cli.files, 'log', '--format=%s']).toString()).toBe('first\n')
  expect(git(['-C', cli.files, 'status', '--porcelain']).toString()).toBe('')
})

it('merges entries that were staged meanwhile', async () => {
  const cli = await committedInside('4')
  writeFileSync(join(cli.files, 'mine.txt'), 'mine\n')
  git(['-C', cli.files, 'add', 'mine.txt'])
  await cli.ok('apply')
  const status = () => git(['-C', cli.files, 'status', '--porcelain']).toString()
  expect(status()).toBe('A  mine.txt\n')
  expect(git(['-C', cli.files, 'fsck', '--strict']).toString()).toBe('')
  await cli.ok('apply', '--undo')
  expect(status()).toBe('A  mine.txt\n')
})

it('does not overwrite an entry that was staged in another way meanwhile', async () => {
  const cli = await committedInside('2')
  writeFileSync(join(cli.files, 'c.txt'), 'mine\n')
  git(['-C', cli.files, 'add', 'c.txt'])
  const { code, stderr } = await cli.run(['apply'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('/.git/index')])
  expect(stderr).toContain("coppice apply files-1 --merge -- ':!/.git'")
  const both = await cli.run(['apply', '--markers', '--', ':!/.git'])
  expect(both).toMatchObject({ code: 0, stderr: expect.stringContaining('edit these files: /c.txt') })
})

it('reports no change for an index that git status wrote again, and keeps no fork of it', async () => {
  const cli = await committedInside('2')
  await cli.ok('drop', 'files-1')
  const look = async (fork: string[], command: string) => {
    utimesSync(join(cli.files, 'a.txt'), 1_700_000_000, 1_700_000_000)
    const { code, stderr } = await cli.run(['exec', '-c', ...fork, '--', command])
    expect(code).toBe(0)
    return stderr
  }
  expect(await look([], 'git status')).toBe('')
  expect(await cli.ok('forks')).toContain('no forks')
  expect(await look([], 'git status; echo new > new.txt')).not.toContain('git:')
  expect(await cli.ok('diff', '--stat')).not.toContain('git:')
  expect(await look(['--fork', 'named'], 'git status')).not.toContain('git:')
  expect(await look([], 'echo staged > s.txt; git add s.txt')).toContain('git: 2 files below .git')
})
