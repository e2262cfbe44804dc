import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

/** Creates a project with a fork for each shell line, by name. */
async function openProject(forks: Readonly<Record<string, string>>): Promise<Cli> {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a.txt'), 'one\n')
  mkdirSync(join(cli.files, 'sub'))
  for (const [name, line] of Object.entries(forks)) await cli.run(['exec', '--fork', name, '-c', '--', line])
  return cli
}

async function listNames(cli: Cli): Promise<string[]> {
  const forks: { readonly fork: string }[] = JSON.parse(await cli.ok('forks', '--json'))
  return forks.map(({ fork }) => fork).sort()
}

describe('coppice forks', () => {
  it('counts the changes of each fork, and names paths that others change too', async () => {
    const cli = await openProject({
      'fix-1': 'echo two >> a.txt; echo new > b.txt',
      'fix-2': 'rm a.txt',
    })
    expect(JSON.parse(await cli.ok('forks', '--json'))).toMatchObject([
      { fork: 'fix-2', files: 1, lines: { added: 0, removed: 1 }, running: null },
      {
        fork: 'fix-1',
        files: 2,
        lines: { added: 2, removed: 0 },
        shared: [{ path: '/a.txt', forks: ['fix-2'] }],
      },
    ])
    expect(await cli.ok('forks')).toMatch(/^fix-1 +\d+ s ago +2 files \+2 -0\n {2}\/a\.txt also in fix-2$/m)
  })

  it('says how to make the first fork', async () => {
    const cli = await openProject({})
    await cli.ok('vault', 'create', 'base')
    expect(await cli.ok('forks')).toContain('coppice exec -- <command>')
  })
})

describe('a fork in which a command runs', () => {
  it('says that its changes are still to come, wherever it is named', async () => {
    const cli = await openProject({ old: 'echo x > x' })
    const children = ['new', 'old'].map((name) =>
      cli.start(['exec', '--fork', name, '-c', '--', `echo ${name} > made; echo ready; read line`]),
    )
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    for (const args of [
      ['diff', 'new'],
      ['apply', 'new'],
      ['merge', 'new', 'old'],
      ['compare', 'new', 'old'],
    ])
      expect(await cli.run(args), args.join(' ')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('look at them now with: coppice enter new\n'),
      })
    const shown = await cli.run(['diff', 'old', '--stat'])
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('A /x') })
    expect(shown.stderr).toContain('runs in old, which gets its changes when it ends')
    for (const child of children) child.stdin.end('go\n')
    await Promise.all(children.map((child) => once(child, 'close')))
    expect(await cli.ok('diff', 'new', '--stat')).toContain('A /made')
  })

  it('is found without its name, and in every command, before it is stored', async () => {
    const cli = await openProject({})
    const child = cli.start(['exec', '--fork', 'new', '-c', '--', 'echo x > made; echo ready; read line'])
    await once(child.stdout, 'data')
    const mountpoint = join(cli.scratch, 'mounted')
    mkdirSync(mountpoint)
    for (const args of [['diff'], ['apply'], ['compare'], ['drop'], ['mount', 'new', mountpoint]])
      expect(await cli.run(args), args.join(' ')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('look at them now with: coppice enter new\n'),
      })
    child.stdin.end('go\n')
    await once(child, 'close')
    expect(await cli.ok('diff', '--stat')).toContain('A /made')
  })
})

describe('a name that no fork of this directory has', () => {
  it('is refused with the names of those that there are, and nothing is dropped', async () => {
    const cli = await openProject({ fix: 'echo x > x' })
    for (const args of [
      ['drop', 'fix', 'fx'],
      ['merge', 'fx', 'fix'],
      ['mount', 'fx', cli.scratch],
    ])
      expect(await cli.run(args), args.join(' ')).toMatchObject({
        code: 1,
        stderr: "coppice: this directory has no fork 'fx'; its forks: fix\n",
      })
    expect(await listNames(cli)).toEqual(['fix'])
  })

  it('is a path for apply if it looks like one', async () => {
    const cli = await openProject({ fix: 'echo x > x' })
    const { stderr } = await cli.run(['apply', 'fix', 'a.txt'])
    expect(stderr).toContain('paths come after --: coppice apply fix -- a.txt\n')
    expect((await cli.run(['apply', 'sub/new file'])).stderr).toContain("coppice apply -- 'sub/new file'\n")
    expect((await cli.run(['apply', 'other'])).stderr).toContain('list its forks with: coppice forks\n')
  })

  it('is refused by exec with the directory that it belongs to', async () => {
    const cli = await openProject({ fix: 'echo x > x' })
    const other = join(cli.scratch, 'other')
    mkdirSync(other)
    const { code, stderr } = await cli.run(['exec', '--fork', 'fix', '--', 'true'], { cwd: other })
    expect([code, stderr]).toEqual([
      1,
      `coppice: 'fix' is a fork of ${realpathSync(cli.files)}; choose another name\n`,
    ])
  })
})

describe('coppice drop', () => {
  it('deletes several forks, and those that match a pattern only when it is forced', async () => {
    const cli = await openProject({ a1: 'echo x > x', a2: 'echo x > x', b1: 'echo x > x', b2: 'echo x > x' })
    const refused = await cli.run(['drop', 'a*'])
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 forks: a1, a2; do it with --force'),
    })
    expect(await listNames(cli)).toEqual(['a1', 'a2', 'b1', 'b2'])
    await cli.ok('drop', '--force', 'a*')
    expect(await listNames(cli)).toEqual(['b1', 'b2'])
    expect(JSON.parse(await cli.ok('drop', 'b1', 'b2', '--json'))).toMatchObject({ deleted: ['b1', 'b2'] })
    expect((await cli.run(['drop', 'c*'])).stderr).toContain("no fork matches 'c*'")
  })
})

describe('a pattern of coppice drop', () => {
  it('matches forks of this directory, or else of vaults, and never of another directory', async () => {
    const cli = await openProject({ a1: 'echo x > x', b1: 'echo x > x' })
    const other = join(cli.scratch, 'other')
    mkdirSync(other)
    await cli.run(['exec', '--fork', 'a2', '-c', '--', 'echo y > y'], { cwd: other })
    await cli.ok('vault', 'create', 'base')
    for (const fork of ['a3', 'c3']) await cli.ok('fork', 'base', fork)
    await cli.ok('drop', '--force', 'a*')
    expect(await listNames(cli)).toEqual(['b1'])
    expect((await cli.run(['forks'], { cwd: other })).stdout).toMatch(/^a2 /)
    await cli.ok('drop', '--force', 'c*')
    const vaults: { readonly name: string }[] = JSON.parse(await cli.ok('vault', 'list', '--json'))
    const left = vaults.map(({ name }) => name)
    expect(left).toEqual(expect.arrayContaining(['a3', 'base']))
    expect(left).not.toContain('c3')
  })
})

describe('coppice prune', () => {
  it('deletes forks without changes, and old ones on request', async () => {
    const cli = await openProject({ applied: 'echo x > x', empty: 'true', kept: 'echo y > y' })
    await cli.ok('apply', 'applied')
    expect(await cli.ok('prune', '--dry-run')).toContain('would delete')
    expect(await listNames(cli)).toContain('applied')
    await cli.ok('prune')
    expect(await listNames(cli)).toEqual(['kept'])
    await cli.ok('prune', '--older-than', '1h')
    expect(await listNames(cli)).toEqual(['kept'])
    await cli.ok('prune', '--older-than', '0m')
    expect(await listNames(cli)).toEqual([])
    expect((await cli.run(['prune', '--older-than', 'soon'])).stderr).toContain('such as 30m, 12h or 7d')
  })
})

describe('coppice exec --times', () => {
  it('numbers the forks of a name', async () => {
    const cli = await openProject({})
    await cli.run(['exec', '-n', '2', '--fork', 'fix', '-c', '--', 'echo x > x'])
    expect(await listNames(cli)).toEqual(['fix-1', 'fix-2'])
  })
})

describe('forks of another directory', () => {
  it.skipIf(whyNoOverlay() !== undefined)('are chosen by no command that names none', async () => {
    const cli = new Cli()
    const [shop, other] = [join(cli.files, 'shop'), join(cli.files, 'other')]
    for (const directory of [shop, other]) mkdirSync(directory)
    await cli.run(['exec', '--', 'sh', '-c', 'echo new > new'], { cwd: shop })
    expect((await cli.run(['log'], { cwd: shop })).stdout).toContain('/new')
    for (const command of ['diff', 'log']) {
      const { code, stdout, stderr } = await cli.run([command], { cwd: other })
      expect([command, code, stdout]).toEqual([command, 1, ''])
      expect(stderr).toContain(
        'there is no fork of this directory, and no vault; create a fork with: coppice exec',
      )
    }
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/a', '--text', 'x')
    expect((await cli.run(['log'], { cwd: other })).stdout).toContain('/a')
  })
})

describe('a fork of another directory', () => {
  it.each([
    ['diff', 'fix'],
    ['apply', 'fix'],
    ['compare', 'fix'],
    ['enter', 'fix'],
    ['mcp', '--fork', 'fix'],
  ])('is named with that directory: coppice %s %s', async (...args) => {
    const cli = await openProject({ fix: 'echo two > a.txt' })
    const elsewhere = join(cli.scratch, 'elsewhere')
    mkdirSync(elsewhere)
    const { code, stderr } = await cli.run(args, { cwd: elsewhere })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`fix is a fork of ${cli.files}; go there`)])
  })

  it('is applied by git where its directory was moved to', async () => {
    const cli = await openProject({ fix: 'echo two > a.txt' })
    const moved = join(cli.scratch, 'moved')
    renameSync(cli.files, moved)
    const { stderr } = await cli.run(['apply', 'fix'], { cwd: moved })
    expect(stderr).toContain(
      'which is no longer there; where its files are now: coppice diff --vault fix --patch |',
    )
    const patch = await cli.run(['diff', '--vault', 'fix', '--patch'], { cwd: moved })
    execFileSync('git', ['apply'], { cwd: moved, input: patch.stdout })
    expect(readFileSync(join(moved, 'a.txt'), 'utf8')).toBe('two\n')
  })
})
