import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, TestRepository } from '../support/git-repository.ts'
import { Cli } from './run-cli.ts'

/** Runs git in the directory of the program, as Ada. */
function createGit({ files }: Cli): (...args: string[]) => string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  return (...args) => execFileSync('git', [...identity, ...args], { cwd: files, encoding: 'utf8' })
}

describe('coppice git', () => {
  it('imports a history, continues it, and exports it with the same ids', async () => {
    const cli = new Cli()
    using repository = new TestRepository([{ files: { a: 'one\n' } }, { files: { a: 'two\n' } }])
    const tip = repository.git('rev-parse', 'main')
    const into = ['git', 'import', repository.path, '--vault', 'shop']
    expect(await cli.json(...into)).toEqual({
      vault: 'shop',
      commit: tip,
      checkpoint: tip.slice(0, 12),
      commits: 2,
      known: 0,
    })
    expect(await cli.ok(...into)).toBe(
      `imported 0 commits into shop, 2 imported before; its checkpoint is ${tip.slice(0, 12)}\n`,
    )
    expect(await cli.ok('checkpoint', 'list')).toContain('commit 2')
    await cli.ok('checkpoint', 'save', 'mine')
    expect(await cli.json('git', 'export', 'out.git')).toMatchObject({
      commits: 3,
      branch: 'main',
      skipped: [],
    })
    expect(
      git(['--git-dir', join(cli.files, 'out.git'), 'rev-parse', 'main~1'])
        .toString()
        .trim(),
    ).toBe(tip)
  })

  it('reports errors before it creates anything', async () => {
    const cli = new Cli()
    const nowhere = await cli.run(['git', 'import', cli.files, '--vault', 'v'])
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toContain('not a git repository')
    expect(existsSync(cli.home)).toBe(false)
    using repository = new TestRepository([{ files: { a: 'one\n' } }])
    const unknown = await cli.run(['git', 'import', repository.path, '--vault', 'v', '--ref', 'nothing'])
    expect(unknown.stderr).toContain("the repository has no commit 'nothing'")
    const unnamed = await cli.run(['git', 'import', repository.path])
    expect(unnamed.stderr).toContain('name a new one with --vault')
    await cli.ok('vault', 'create', 'v')
    const empty = await cli.run(['git', 'export', 'out.git'])
    expect(empty).toMatchObject({ code: 1 })
    expect(empty.stderr).toContain('no checkpoint')
    const author = await cli.run(['git', 'export', 'out.git', '--author', 'nobody'])
    expect(author.stderr).toContain('Ada <ada@example.org>')
    expect(readdirSync(cli.files)).toEqual([])
  })
})

describe('coppice git export of a fork of a directory', () => {
  it('leaves out other repositories, and takes a directory in place of a link', async () => {
    const cli = new Cli()
    const git = createGit(cli)
    git('init', '--quiet', '--initial-branch=main')
    git('init', '--quiet', 'nested')
    symlinkSync('nowhere', join(cli.files, 'link'))
    for (const name of ['a', 'nested/n']) writeFileSync(join(cli.files, name), 'one\n')
    git('add', 'a', 'link')
    git('commit', '--quiet', '--message', 'Begin')
    const line =
      'echo two > a; rm link; mkdir link; echo x > link/x; echo two > nested/n; git init -q new; echo y > new/y'
    await cli.run(['exec', '--fork', 'fix', '--shell', '--', line])
    const exported = await cli.ok('git', 'export', '.', '--vault', 'fix')
    expect(exported).toContain('left out /nested: it is a repository of its own')
    expect(exported).toContain('left out /new: it is a repository of its own')
    git('merge', '--quiet', 'fix')
    expect(git('ls-files').split('\n')).toEqual(['a', 'link/x', ''])
    expect(readFileSync(join(cli.files, 'nested/n'), 'utf8')).toBe('one\n')
  })

  it('writes a commit that git merges, and a further one for further work', async () => {
    const cli = new Cli()
    const git = createGit(cli)
    git('init', '--quiet', '--initial-branch=main')
    for (const [name, text] of Object.entries({
      'a.txt': 'one\n',
      '.gitignore': 'out\n',
      '.env': 'TOKEN=SECRET-1\n',
    }))
      writeFileSync(join(cli.files, name), text)
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Begin')
    // Not committed, and not part of the fork.
    writeFileSync(join(cli.files, 'mine.txt'), 'mine\n')
    const line =
      'echo two >> a.txt; echo OTHER=1 >> .env; echo x > out; mkdir d; echo b > d/b; ln -s a.txt l; chmod +x d/b'
    await cli.run(['exec', '--fork', 'fix', '--mask', '--shell', '--', line])
    const exported = await cli.ok('git', 'export', '.', '--vault', 'fix')
    expect(exported).toMatch(/^branch fix is at [0-9a-f]{12}; merge it with: git merge fix$/m)
    expect(exported).toContain('left out 1 ignored file')
    expect(exported).toContain('left out /.env: it has masked secrets')
    await cli.run(['exec', '--fork', 'fix', '--', 'rm', 'd/b'])
    await cli.ok('git', 'export', '.', '--vault', 'fix')
    expect(git('log', '--format=%s', 'fix').split('\n')).toEqual([
      'Apply the changes of fix',
      'Apply the changes of fix',
      'Begin',
      '',
    ])
    expect(git('ls-tree', '-r', 'fix~').match(/^100755 .*\td\/b$/m)).not.toBeNull()
    expect(git('status', '--short')).toBe('?? mine.txt\n')
    git('merge', '--quiet', 'fix')
    expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(git('ls-files').split('\n')).toEqual(['.env', '.gitignore', 'a.txt', 'l', ''])
    const refused = await cli.run(['git', 'export', '.', '--branch', 'main', '--vault', 'fix'])
    expect(refused.stderr).toContain("the branch 'main' is checked out")
    const elsewhere = await cli.run(['git', 'export', 'out.git', '--vault', 'fix'])
    expect(elsewhere.stderr).toContain('fix is a fork of ')
    expect(existsSync(join(cli.files, 'out.git'))).toBe(false)
  })
  it('brings commits of a fork, and changes without one, after the commit that the fork began from', async () => {
    const cli = new Cli()
    const git = (...args: string[]) => runGit(cli, args)
    const lines = Array.from({ length: 20 }, (_, at) => `${at + 1}\n`)
    git('init', '--quiet', '--initial-branch=main')
    writeFileSync(join(cli.files, 'a.txt'), lines.join(''))
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Begin')
    const commit = (message: string) => `git ${BY} commit -q -a -m ${message}`
    const forks = {
      one: `sed -i s/^2$/ONE/ a.txt; ${commit('first')}; sed -i s/^3$/ONE/ a.txt; ${commit('second')}`,
      two: `sed -i s/^18$/TWO/ a.txt; ${commit('third')}; echo more > more.txt`,
      three: 'sed -i s/^10$/THREE/ a.txt',
    }
    for (const [name, line] of Object.entries(forks))
      await cli.run(['exec', '--fork', name, '--shell', '--', line])
    await cli.ok('apply', 'one')
    const refused = await cli.run(['apply', 'two', '--merge'])
    expect(refused.code).toBe(3)
    const [, hint = ''] =
      refused.stderr.match(/^Let git merge its commits: coppice (.+) && git merge two$/m) ?? []
    for (const name of ['two', 'three']) {
      await cli.ok(...hint.replace('two', name).split(' '))
      git('merge', '--quiet', '-m', `merge ${name}`, name)
    }
    const merged = lines.map(
      (line) => ({ 2: 'ONE\n', 3: 'ONE\n', 10: 'THREE\n', 18: 'TWO\n' })[Number(line)] ?? line,
    )
    expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe(merged.join(''))
    expect(git('log', '--format=%s', 'two').split('\n')).toEqual([
      'Apply the changes of two',
      'third',
      'Begin',
      '',
    ])
    expect(git('log', '--format=%s', 'three').split('\n')).toEqual([
      'Apply the changes of three',
      'Begin',
      '',
    ])

    // Later work of the fork follows what the branch has.
    await cli.run(['exec', '--fork', 'two', '--shell', '--', `echo end >> more.txt; ${commit('fourth')}`])
    await cli.ok('git', 'export', '.', '--vault', 'two')
    git('merge', '--quiet', '-m', 'again', 'two')
    expect(readFileSync(join(cli.files, 'more.txt'), 'utf8')).toBe('more\nend\n')
    expect(git('fsck', '--full', '--strict')).not.toMatch(/missing|corrupt|error/)
    expect(git('for-each-ref', '--format=%(refname)').trim().split('\n')).toEqual(
      ['main', 'three', 'two'].map((name) => `refs/heads/${name}`),
    )
  })

  it('begins at the checked out commit where a changed file was not committed', async () => {
    const cli = new Cli()
    const git = (...args: string[]) => runGit(cli, args)
    git('init', '--quiet', '--initial-branch=main')
    for (const text of ['one\n', 'two\n']) {
      writeFileSync(join(cli.files, 'a.txt'), text)
      git('add', '--all')
      git('commit', '--quiet', '--message', text.trim())
    }
    writeFileSync(join(cli.files, 'a.txt'), 'mine\n')
    await cli.run(['exec', '--fork', 'fix', '--shell', '--', 'echo theirs >> a.txt'])
    await cli.ok('git', 'export', '.', '--vault', 'fix')
    expect(git('log', '--format=%s', 'fix').split('\n')).toEqual([
      'Apply the changes of fix',
      'two',
      'one',
      '',
    ])
    expect(git('show', 'fix:a.txt')).toBe('mine\ntheirs\n')
  })
})

const BY = '-c user.name=Ada -c user.email=ada@example.org'

function runGit(cli: Cli, args: readonly string[]): string {
  return execFileSync('git', [...BY.split(' '), ...args], { cwd: cli.files, encoding: 'utf8' })
}
