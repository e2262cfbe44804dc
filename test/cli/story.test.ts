import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

/** Creates an initial directory on this machine. */
function shopIn(cli: Cli): string {
  const shop = join(cli.files, 'shop')
  mkdirSync(join(shop, 'src'), { recursive: true })
  writeFileSync(join(shop, 'README.md'), '# Shop\n')
  writeFileSync(join(shop, 'src/cart.ts'), 'const prices = []\nexport const total = 0\n')
  writeFileSync(join(shop, 'logo.png'), Buffer.from([137, 80, 78, 71, 0, 1, 2]))
  return shop
}

const alice = { env: { COPPICE_CONTEXT: 'alice', COPPICE_TRACE: 'call-7' } }
const bob = { env: { COPPICE_CONTEXT: 'bob' } }

describe("a newcomer's afternoon", () => {
  it('imports, forks twice, changes both, compares, merges one, drops the other, restores, and shows authors', async () => {
    const cli = new Cli()
    const shop = shopIn(cli)
    expect(await cli.ok('import', shop, '--vault', 'base')).toContain('3 files')
    await cli.ok('fork', 'base', 'task-1')
    await cli.ok('fork', 'base', 'task-2')
    await cli.ok('vault', 'use', 'base')

    const sum = 'const prices = []\nexport const total = sum(prices)\n'
    await cli.run(['write', '/src/cart.ts', '--vault', 'task-1'], { input: sum, ...alice })
    await cli.run(['rm', '/README.md', '--vault', 'task-1'], alice)
    await cli.run(['write', '/NOTES.md', '--vault', 'task-1', '--text', 'adds up'], alice)
    await cli.run(['write', '/src/cart.ts', '--vault', 'task-2', '--text', 'rewritten'], bob)

    expect(await cli.ok('diff', '--vault', 'task-1')).toBe('A /NOTES.md\nD /README.md\nM /src/cart.ts\n')
    expect(await cli.ok('diff', 'vault:base', '--vault', 'task-1', '--stat')).toContain(
      'M /src/cart.ts  +1 -1\n',
    )
    const patch = await cli.ok('diff', 'vault:base', '--vault', 'task-1', '--patch')
    expect(patch).toContain('-export const total = 0\n+export const total = sum(prices)\n')
    execFileSync('git', ['apply', '-'], { cwd: shop, input: patch })
    expect(readFileSync(join(shop, 'src/cart.ts'), 'utf8')).toBe(sum)

    await cli.ok('checkpoint', 'save', 'before', '-m', 'as imported')
    expect(await cli.ok('merge', 'task-1')).toContain('merged 3 changes of task-1 into base')
    expect(await cli.ok('drop', 'task-2')).toContain('dropped task-2')
    expect(await cli.ok('diff', 'before')).toBe('A /NOTES.md\nD /README.md\nM /src/cart.ts\n')
    expect(await cli.ok('cat', '/src/cart.ts', '--at', 'before')).toContain('total = 0')

    expect(await cli.ok('blame', '/src/cart.ts', '--vault', 'task-1')).toMatch(
      /alice.* 2\) export const total = sum/,
    )
    expect(await cli.ok('log', '--vault', 'task-1', '-n', '1')).toMatch(
      /alice +write +\/NOTES\.md \(call-7\)/,
    )

    await cli.ok('checkpoint', 'restore', 'before')
    expect(await cli.ok('ls')).toBe('README.md\nlogo.png\nsrc/\n')
    const target = join(cli.files, 'out')
    await cli.ok('export', target)
    expect(readFileSync(join(target, 'README.md'), 'utf8')).toBe('# Shop\n')
  })

  it('reports a conflict with exit code 3 and advice, and changes nothing', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/plan', '--text', 'one')
    await cli.ok('fork', 'base', 'task')
    await cli.ok('write', '/plan', '--text', 'ours', '--vault', 'base')
    await cli.ok('write', '/plan', '--text', 'theirs', '--vault', 'task')
    const run = await cli.run(['merge', 'task'])
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('  C /plan\n')
    expect(run.stderr).toContain('coppice merge task base --theirs')
    const asJson = await cli.run(['merge', 'task', '--json'])
    expect(asJson.code).toBe(3)
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: { code: 'ECONFLICT', conflicts: [{ path: '/plan', ours: { type: 'file', size: 5 } }] },
    })
    expect(await cli.ok('cat', '/plan', '--vault', 'base')).toBe('ours\n')
    await cli.ok('merge', 'task', '--theirs')
    expect(await cli.ok('cat', '/plan', '--vault', 'base')).toBe('theirs\n')
  })

  it('asks before it deletes', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base', '--use')
    await cli.ok('fork', 'task', '--use')
    const unsure = await cli.run(['vault', 'delete', 'base'])
    expect(unsure).toMatchObject({ code: 2, stdout: '' })
    expect(unsure.stderr).toContain('--yes')
    expect((await cli.run(['drop', 'base'])).stderr).toContain("'base' is not a fork")
    expect(await cli.json('drop', 'task')).toEqual({ deleted: 'task', current: 'base' })
    expect(await cli.json('vault', 'list')).toMatchObject([{ name: 'base', isCurrent: true }])
    await cli.ok('vault', 'delete', 'base', '--yes')
    expect(await cli.json('vault', 'list')).toEqual([])
  })
})
