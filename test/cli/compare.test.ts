import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

async function openProject(): Promise<Cli> {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'sum.txt'), '1\n')
  const fork = (name: string, line: string) => cli.run(['exec', '--fork', name, '-c', '--', line])
  await fork('fix-1', 'echo 2 > sum.txt; echo new > notes.txt')
  await fork('fix-2', 'echo 3 > sum.txt')
  await fork('fix-10', 'echo other > other.txt')
  return cli
}

describe('coppice compare', () => {
  it('shows the changes of each fork and what they share', async () => {
    const cli = await openProject()
    expect(await cli.ok('compare')).toBe(
      [
        'fork    changes        shared with',
        'fix-1   2 files +2 -1  fix-2: 1 file',
        'fix-2   1 file +1 -1   fix-1: 1 file',
        'fix-10  1 file +1 -0',
        '',
      ].join('\n'),
    )
    expect(await cli.json('compare', 'fix-2', 'fix-1')).toMatchObject([
      { fork: 'fix-2', files: 1, shared: [{ path: '/sum.txt', forks: ['fix-1'] }], check: null },
      { fork: 'fix-1', files: 2, lines: { added: 2, removed: 1 } },
    ])
    const matching = await cli.json('compare', 'fix-1', 'fix-1*')
    expect(matching).toMatchObject([{ fork: 'fix-1' }, { fork: 'fix-10' }])
    expect(matching).toHaveLength(2)
  })

  it('runs a check in each fork, without a trace', async () => {
    const cli = await openProject()
    const check = 'touch checked; test "$(cat sum.txt)" = 3'
    expect(await cli.json('compare', '--check', check)).toMatchObject([
      { fork: 'fix-1', check: { exit_code: 1, reason: null } },
      { fork: 'fix-2', check: { exit_code: 0 } },
      { fork: 'fix-10', check: { exit_code: 1 } },
    ])
    const table = await cli.run(['compare', 'fix-1', 'fix-2', '--check', check])
    expect(table).toMatchObject({ code: 0, stderr: '' })
    expect(table.stdout).toMatch(/^fix-1 +exit 1 in \d+\.\d s +2 files/m)
    expect(table.stdout).toMatch(/^fix-2 +passed in \d+\.\d s +1 file/m)
    expect(await cli.ok('diff', 'fix-1', '--json')).not.toContain('checked')
    expect((await cli.run(['compare', 'fix-1', '--check', 'false'])).code).toBe(1)
    expect(readFileSync(join(cli.files, 'sum.txt'), 'utf8')).toBe('1\n')
  })

  it('says why a check did not run', async () => {
    const cli = await openProject()
    const refused = await cli.run(['compare', 'fix-1', '--check', 'curl https://example.com'])
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(
      /it needs approval; a person can let it run once with: coppice approve [0-9a-f]{12}/,
    )
    const slow = await cli.run(['compare', 'fix-1', '--timeout', '1', '--check', 'sleep 100'])
    expect(slow.stdout).toContain('stopped: timeout')
  })

  it('names forks that are not there', async () => {
    const cli = await openProject()
    expect((await cli.run(['compare', 'fix-1', 'fix-9'])).stderr).toContain("no fork 'fix-9'")
    expect((await cli.run(['compare', 'fix-1', 'other-*'])).stderr).toContain("no fork 'other-*'")
    const empty = new Cli()
    await empty.ok('vault', 'create', 'base')
    expect((await empty.run(['compare'])).stderr).toContain('coppice exec -n 3 --fork fix')
  })
})
