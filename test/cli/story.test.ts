import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

describe("a newcomer's afternoon", () => {
  it('is told of a conflict, with exit code 3, what to do, and nothing changed', async () => {
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
      error: { code: 'ECONFLICT', conflicts: [{ path: '/plan' }] },
    })
    expect(await cli.ok('cat', '/plan', '--vault', 'base')).toBe('ours\n')
    await cli.ok('merge', 'task', '--theirs')
    expect(await cli.ok('cat', '/plan', '--vault', 'base')).toBe('theirs\n')
  })

  it('deletes nothing without being sure', async () => {
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
