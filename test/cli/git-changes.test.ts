import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { Cli } from './run-cli.ts'

const BY = ['-c', 'user.name=a', '-c', 'user.email=b'].join(' ')
/** Two commits on a new branch, one on the old one, a file without a commit, and a hook. */
const SCRIPT = `echo one >> a.txt; git ${BY} commit -q -a -m one
git checkout -q -b feat; echo two > b.txt; git add b.txt; git ${BY} commit -q -m two; echo c > c.txt
echo exit > .git/hooks/pre-commit`
const SUMMARY = 'git: 2 commits on feat, 1 commit on main, feat checked out'

/** A repository with one commit, and its fork `f`. Returns what `exec` printed about the changes. */
async function commitInFork(): Promise<{ readonly cli: Cli; readonly printed: string }> {
  const cli = new Cli()
  git(['init', '-q', '-b', 'main', cli.files])
  writeFileSync(join(cli.files, 'a.txt'), 'begin\n')
  git(['-C', cli.files, 'add', '.'])
  git(['-C', cli.files, ...BY.split(' '), 'commit', '-q', '-m', 'begin'])
  const { code, stderr } = await cli.run(['exec', '--fork', 'f', '-c', '--', SCRIPT])
  expect(code, stderr).toBe(0)
  return { cli, printed: stderr }
}

it('is shown as commits of branches, and hooks as the files they are', async () => {
  const { cli, printed } = await commitInFork()
  expect(printed).toBe(`
  A /.git/hooks/pre-commit  +1
  M /a.txt  +1
  A /b.txt  +1
  A /c.txt  +1
  ${SUMMARY}

in f: coppice diff f · coppice apply f · coppice drop f
`)
  const shown = await cli.ok('diff', 'f')
  expect(shown).toMatch(new RegExp(`^${SUMMARY}\n`))
  expect([...shown.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path)).toEqual([
    '.git/hooks/pre-commit',
    'a.txt',
    'b.txt',
    'c.txt',
  ])
  expect(await cli.ok('diff', 'f', '--stat')).toMatch(
    new RegExp(`^${SUMMARY}\n[^]*\n4 paths, \\+4 -0 lines\n$`),
  )
  expect(await cli.ok('diff', 'f', '--stat', '--all')).toContain('A /.git/refs/heads/feat')
  expect(await cli.json('diff', 'f')).toContainEqual(
    expect.objectContaining({ path: '/.git/refs/heads/feat' }),
  )
})

it('is no part of a patch, which git applies', async () => {
  const { cli } = await commitInFork()
  const { stdout, stderr } = await cli.run(['diff', 'f', '--patch'])
  expect(stderr).toContain('not in the patch, as git applies none below .git: /.git/hooks/pre-commit')
  execFileSync('git', ['apply'], { cwd: cli.files, input: stdout })
  expect(git(['-C', cli.files, 'status', '--porcelain']).toString()).toBe(' M a.txt\n?? b.txt\n?? c.txt\n')
})

it('is counted as commits by forks and compare, which overlap at branches', async () => {
  const { cli } = await commitInFork()
  const commit = `echo three > d.txt; git add d.txt; git ${BY} commit -q -m three`
  await cli.run(['exec', '--fork', 'g', '-c', '--', commit])
  const forks = await cli.ok('forks')
  expect(forks).toMatch(/^f .* 4 files \+4 -0, 3 commits$/m)
  expect(forks).toContain('\n  /.git/refs/heads/main also in f\n')
  expect(forks).not.toContain('/.git/index')
  expect(await cli.ok('compare')).toMatch(/^g +1 file \+1 -0, 1 commit +f: 1 file$/m)
  expect(await cli.json('compare', 'g')).toMatchObject([{ fork: 'g', files: 1, commits: 1 }])
  // No side can be chosen for a branch with commits of both.
  const { stderr } = await cli.run(['merge', 'f', 'g'])
  expect(stderr).toContain('Let git merge its commits: coppice git export . --vault f && git merge f')
  expect(stderr).not.toContain('--theirs')
})

it('is exported again without another commit', async () => {
  const { cli } = await commitInFork()
  await cli.run(['exec', '--fork', 'plain', '-c', '--', 'echo two >> a.txt'])
  for (const fork of ['f', 'plain']) {
    const [first, second] = [
      await cli.ok('git', 'export', cli.files, '--vault', fork),
      await cli.ok('git', 'export', cli.files, '--vault', fork),
    ]
    expect(second).toBe(first)
  }
  expect(git(['-C', cli.files, 'log', '--format=%s', 'main..plain']).toString()).toBe(
    'Apply the changes of plain\n',
  )
})
