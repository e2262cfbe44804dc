import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, TestRepository } from '../support/git-repository.ts'
import { Cli } from './run-cli.ts'

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
