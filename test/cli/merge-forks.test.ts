import { execSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')

async function project(): Promise<Cli> {
  const cli = new Cli()
  mkdirSync(join(cli.files, 'd'))
  for (const name of ['a', 'b', 'd/x', 'd/y']) writeFileSync(join(cli.files, name), LINES)
  return cli
}

async function fork(cli: Cli, name: string, script: string, ...options: string[]): Promise<void> {
  const run = await cli.run(['exec', '--fork', name, ...options, '--', 'sh', '-c', script])
  expect(run.code, run.stderr).toBe(0)
}

function read(cli: Cli, path: string): string {
  return readFileSync(join(cli.files, path), 'utf8')
}

it('merges a fork of a directory into another one, which is then applied as a whole', async () => {
  const cli = await project()
  await fork(cli, 'f1', 'sed -i "s/line 2$/TWO/" a; chmod 755 d/x; echo one > one')
  await fork(cli, 'f2', 'sed -i "s/line 19$/END/" a d/x; rm d/y; echo B > b; mkdir -p n/m; echo n > n/m/n')
  expect(await cli.ok('merge', 'f2', 'f1')).toContain('merged 7 changes of f2 into f1')
  expect([read(cli, 'a'), existsSync(join(cli.files, 'n'))]).toEqual([LINES, false])
  const stat = await cli.ok('diff', 'f1', '--stat')
  expect(stat).toContain('M /a  +2 -2\nM /b  +1 -20\n')
  expect(stat).toContain(
    'M /d/x  +1 -1  mode 0644 -> 0755\nD /d/y  +0 -20\nA /n/m/n  +1 -0\nA /one  +1 -0\n6 paths',
  )
  // A later command of the fork sees both.
  await fork(cli, 'f1', 'grep -q END a && grep -q TWO a && grep -q END d/x && test -x d/x && ! test -e d/y')
  await cli.ok('apply', 'f1')
  expect(read(cli, 'a')).toBe(LINES.replace('line 2\n', 'TWO\n').replace('line 19', 'END'))
  expect([read(cli, 'n/m/n'), existsSync(join(cli.files, 'd/y'))]).toEqual(['n\n', false])
  await cli.ok('apply', 'f1', '--undo')
  expect([read(cli, 'a'), read(cli, 'd/y')]).toEqual([LINES, LINES])
})

it('refuses conflicts, and resolves them with its options', async () => {
  const cli = await project()
  await fork(cli, 'f1', 'sed -i "s/line 2$/ONE/" a')
  await fork(cli, 'f2', 'sed -i "s/line 2$/TWO/" a; echo new > new')
  const { code, stderr } = await cli.run(['merge', 'f2', 'f1'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('C /a')])
  expect(stderr).toContain('coppice merge f2 f1 --theirs')
  expect(await cli.ok('diff', 'f1', '--stat')).toContain('1 path')
  for (const [option, line] of [
    ['--ours', 'ONE'],
    ['--theirs', 'TWO'],
    ['--markers', '<<<<<<< f1\nONE\n=======\nTWO\n>>>>>>> f2'],
  ] as const) {
    await fork(cli, `t${option}`, 'sed -i "s/line 2$/ONE/" a')
    await cli.ok('merge', 'f2', `t${option}`, option)
    const text = await cli.ok('cat', '/a', '--vault', `t${option}`)
    expect(text.replaceAll(`t${option}`, 'f1')).toBe(LINES.replace('line 2', line))
  }
})

it('keeps the base of the merged fork, so that edits since are noticed', async () => {
  const cli = await project()
  await fork(cli, 'f1', 'echo one > one')
  await fork(cli, 'f2', 'sed -i "s/line 2$/TWO/" a')
  const mine = LINES.replace('line 19', 'MINE')
  writeFileSync(join(cli.files, 'a'), mine)
  await cli.ok('merge', 'f2', 'f1')
  expect((await cli.run(['apply', 'f1'])).code).toBe(3)
  await cli.ok('apply', 'f1', '--merge')
  expect(read(cli, 'a')).toBe(mine.replace('line 2\n', 'TWO\n'))
})

it('shows with --dry-run what a merge would do, in vaults too', async () => {
  const cli = await project()
  await fork(cli, 'f1', 'sed -i "s/line 2$/ONE/" a')
  await fork(cli, 'f2', 'sed -i "s/line 2$/TWO/" a; echo new > new')
  await fork(cli, 'f3', 'echo three > three')
  expect((await cli.run(['merge', 'f2', 'f1', '--dry-run'])).code).toBe(3)
  expect(await cli.ok('merge', 'f3', 'f1', '--dry-run')).toBe(
    'A /three\nwould merge 1 change of f3 into f1\n',
  )
  expect(await cli.ok('diff', 'f1', '--stat')).toContain('1 path')
  await cli.ok('import', cli.files, '--vault', 'base')
  for (const name of ['task-1', 'task-2']) {
    await cli.ok('fork', 'base', name)
    await cli.ok('write', '/a', '--vault', name, '--text', name)
  }
  const names = await cli.ok('vault', 'list')
  expect(await cli.ok('merge', 'task-1', '--dry-run')).toBe(
    'M /a\nwould merge 1 change of task-1 into base\n',
  )
  expect(await cli.ok('cat', '/a', '--vault', 'base')).toBe(LINES)
  await cli.ok('merge', 'task-1')
  const { code, stderr } = await cli.run(['merge', 'task-2', '--dry-run'])
  expect([code, stderr]).toEqual([3, expect.stringContaining('C /a')])
  expect(stderr).not.toContain('coppice resolve')
  expect(stderr).toContain('one at a time: coppice merge task-2 base\n')
  expect(await cli.ok('merge', 'task-2', '--dry-run', '--theirs')).toContain('would merge 1 change')
  expect((await cli.ok('vault', 'list')).split('\n').length).toBe(names.split('\n').length)
  expect((await cli.run(['merge', 'f1', '--dry-run'])).stderr).toContain('use coppice apply f1')
})

it.skipIf(whyNoOverlay() !== undefined)(
  'undoes a merge after commands that changed nothing, and refuses after one that did',
  async () => {
    const cli = await project()
    const git = 'git -c user.name=n -c user.email=e@example.com'
    execSync(`git init -q && git add . && ${git} commit -qm one`, { cwd: cli.files })
    await fork(cli, 'f1', 'sed -i "s/line 2$/TWO/" a; git add a')
    await fork(cli, 'f2', 'sed -i "s/line 19$/END/" a; echo new > new')
    const before = await cli.ok('diff', 'f2')
    await cli.ok('merge', 'f1', 'f2')
    await fork(cli, 'f2', 'touch a d/x; git status; rm new; echo new > new')
    await cli.ok('apply', 'f2')
    await cli.ok('apply', 'f2', '--undo')
    expect(await cli.ok('merge', '--undo', 'f2')).toContain('undid the last merge into f2')
    expect(await cli.ok('diff', 'f2')).toBe(before)
    await cli.ok('merge', 'f1', 'f2')
    await fork(cli, 'f2', 'chmod 755 a')
    const refused = await cli.run(['merge', '--undo', 'f2'])
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('nothing was undone')])
    expect(await cli.ok('diff', 'f2', '--stat')).toContain('mode 0644 -> 0755')
    await cli.ok('apply', 'f2')
    expect((await cli.run(['merge', '--undo', 'f2'])).code).toBe(3)
  },
)

it('refuses other targets', async () => {
  const cli = await project()
  await fork(cli, 'f1', 'echo one > one')
  await cli.ok('vault', 'create', 'base')
  const into = await cli.run(['merge', 'f1'])
  expect([into.code, into.stderr]).toEqual([1, expect.stringContaining('use coppice apply f1')])
  const vault = await cli.run(['merge', 'f1', 'base'])
  expect([vault.code, vault.stderr]).toEqual([
    1,
    expect.stringContaining('base is not a fork of this directory'),
  ])
  const typo = await cli.run(['merge', 'f1', 'f2'])
  expect([typo.code, typo.stderr]).toEqual([1, "coppice: this directory has no fork 'f2'; its forks: f1\n"])
  const itself = await cli.run(['merge', 'f1', 'f1'])
  expect([itself.code, itself.stderr]).toEqual([1, expect.stringContaining('cannot be merged into itself')])
})

it.skipIf(whyNoOverlay() !== undefined)(
  'keeps placeholders of masked secrets, and apply their values',
  async () => {
    const cli = await project()
    const env = 'API_KEY=real-key-1\nPORT=3000\n\n\nLAST=9\n'
    writeFileSync(join(cli.files, '.env'), env)
    await fork(cli, 'f1', 'sed -i s/3000/4000/ .env', '--mask')
    await fork(cli, 'f2', 'sed -i s/=9/=10/ .env', '--mask')
    await cli.ok('merge', 'f2', 'f1')
    expect(await cli.ok('cat', '/.env', '--vault', 'f1')).not.toContain('real-key')
    await cli.ok('apply', 'f1')
    expect(read(cli, '.env')).toBe(env.replace('3000', '4000').replace('=9', '=10'))
  },
)
