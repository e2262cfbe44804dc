import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { git } from '../support/git-repository.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')
const canType = hasProgram('python3')

async function changedInside(script: string, ...options: string[]): Promise<Cli> {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a'), LINES)
  writeFileSync(join(cli.files, '.env'), 'API_KEY=real-key-1\nPORT=3000\n')
  mkdirSync(join(cli.files, 'd'))
  writeFileSync(join(cli.files, 'd/x'), 'x\n')
  const run = await cli.run(['exec', '--fork', 'f', ...options, '--', 'sh', '-c', script])
  expect(run.code, run.stderr).toBe(0)
  return cli
}

/** Answers the questions of `apply -p`, each once it appears. */
async function answer(
  cli: Cli,
  answers: readonly string[],
  { args = [], code = 0 }: { args?: readonly string[]; code?: number } = {},
): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home, NO_COLOR: '1' }
  const program = [process.execPath, join(root, 'bin/coppice.js'), 'apply', '-p', ...args]
  const line = `cd '${cli.files}' && exec "$@"`
  const terminal = new PseudoTerminal(['sh', '-c', line, 'sh', ...program], env, [40, 120])
  for (const [index, keys] of answers.entries()) {
    await vi.waitFor(() => expect(terminal.shown.split(']? ').length).toBeGreaterThan(index + 1), 20_000)
    terminal.type(keys)
  }
  expect((await terminal.ended()).code, terminal.shown).toBe(code)
  return terminal.shown
}

function read(cli: Cli, path: string): string {
  return readFileSync(join(cli.files, path), 'utf8')
}

describe.skipIf(!canType)('apply -p', () => {
  it('applies the picked hunks, splits them, and leaves the rest in the fork', async () => {
    const cli = await changedInside('sed -i "s/line 2$/TWO/; s/line 5$/FIVE/; s/line 25$/END/" a; echo n > n')
    const shown = await answer(cli, ['?\r', 's\r', 'n\r', 'y\r', 'y\r', 'n\r'])
    expect(shown).toContain('(1/2) Apply this hunk [y,n,q,a,d,s,?]?')
    expect(shown).toContain('s - split this hunk into smaller ones')
    expect(shown).toContain('new file /n')
    expect(shown).toContain('wrote 1 change of f to this directory; 2 changes stay in the fork')
    expect(read(cli, 'a')).toBe(LINES.replace('line 5\n', 'FIVE\n').replace('line 25', 'END'))
    expect(await cli.ok('diff', 'f')).toMatch(/-line 2\n\+TWO\n[^+-]*diff --git/)
    await cli.ok('apply', 'f', '--undo')
    expect(read(cli, 'a')).toBe(LINES)
    await cli.ok('apply', 'f')
    expect(read(cli, 'a')).toContain('TWO\nline 3\nline 4\nFIVE')
  })

  it('asks once about all that git keeps by itself, and about hooks on their own', async () => {
    const commit = 'git add a; git -c user.name=a -c user.email=b commit -q -m x'
    const cli = await changedInside(
      `git init -q -b main; ${commit}; echo exit > .git/hooks/pre-commit; echo n > n`,
    )
    const shown = await answer(cli, ['y\r', 'n\r', 'n\r', 'y\r'])
    const headers = [...shown.matchAll(/^(new file .+|git: .+?)\r?$/gm)].map(([, header]) => header)
    expect(headers.slice(0, 4)).toEqual([
      'new file /.git/config',
      'new file /.git/hooks/pre-commit',
      'new file /n',
      'git: 1 commit on main',
    ])
    expect(git(['-C', cli.files, 'log', '--format=%s']).toString()).toBe('x\n')
    expect([existsSync(join(cli.files, 'n')), existsSync(join(cli.files, '.git/hooks/pre-commit'))]).toEqual([
      false,
      false,
    ])
  })

  it('takes a for the rest of a file, d for none of it, and q for the end', async () => {
    const cli = await changedInside('sed -i "s/line 2$/TWO/; s/line 25$/END/" a; rm -r d; echo n > n')
    await answer(cli, ['a\r', 'y\r', 'q\r'])
    expect(read(cli, 'a')).toContain('END')
    expect(await cli.ok('diff', 'f', '--stat')).toContain('A /n  +1 -0\n1 path')
    expect(await cli.ok('ls', '--vault', 'f')).toContain('n')
    await cli.ok('apply', 'f', '--undo')
    expect(await answer(cli, ['d\r', 'n\r', 'q\r'])).toContain('nothing was written: no change was picked')
    expect([read(cli, 'a'), read(cli, 'd/x')]).toEqual([LINES, 'x\n'])
  })

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('writes nothing after %s', async (_name, key) => {
    const cli = await changedInside('sed -i "s/line 2$/TWO/; s/line 25$/END/" a')
    const shown = await answer(cli, ['y\r', key], { code: 130 })
    expect(shown).toMatch(/\]\? [^\n]*\n$/)
    expect(read(cli, 'a')).toBe(LINES)
  })

  it.skipIf(whyNoOverlay() !== undefined)('keeps masked values, and merges picked hunks', async () => {
    const cli = await changedInside(
      'sed -i "s/3000/4000/" .env; sed -i "s/line 2$/TWO/; s/line 25$/END/" a',
      '--mask',
    )
    writeFileSync(join(cli.files, 'a'), LINES.replace('line 15', 'MINE'))
    writeFileSync(join(cli.files, '.env'), 'API_KEY=real-key-2\nPORT=3000\n')
    const shown = await answer(cli, ['y\r', 'y\r', 'n\r'], { args: ['--merge'] })
    expect(shown).not.toContain('real-key')
    expect(read(cli, '.env')).toBe('API_KEY=real-key-2\nPORT=4000\n')
    expect(read(cli, 'a')).toBe(LINES.replace('line 15', 'MINE').replace('line 2\n', 'TWO\n'))
    await cli.ok('apply', 'f', '--undo')
    expect(read(cli, '.env')).toBe('API_KEY=real-key-2\nPORT=3000\n')
  })
})

it('apply -p refuses to ask where there is no terminal', async () => {
  const cli = await changedInside('echo n > n')
  const run = await cli.run(['apply', '-p'])
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('-p asks at a terminal') })
})
