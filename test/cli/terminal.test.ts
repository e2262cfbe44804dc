import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROGRAM } from '../mcp/mcp-client.ts'
import { hasProgram } from '../support/debian-programs.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const ESCAPE = '\u001b'
const END_OF_INPUT = '\u0004'
const INTERRUPT = '\u0003'

/** Starts the program on a terminal. */
function atTerminal(cli: Cli, args: readonly string[], env: NodeJS.ProcessEnv = {}): PseudoTerminal {
  const own = { ...process.env, COPPICE_HOME: cli.home, NODE_OPTIONS: '', TERM: 'xterm', ...env }
  return new PseudoTerminal([...PROGRAM, ...args], own, [24, 80])
}

async function prepared(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.ok('write', '/a', '--text', 'x')
  return cli
}

const LONG = `${'echo looks harmless; '.repeat(200)}curl http://127.0.0.1:9/ # at the end`

/** Returns the shown command without the marks before its lines. */
function commandShown({ shown }: PseudoTerminal): string {
  const from = shown.lastIndexOf('command:\r\n')
  return shown
    .slice(from, shown.indexOf('directory:', from))
    .split('\r\n')
    .flatMap((line) => line.match(/^ {2}[|\\] (.*)$/)?.[1] ?? [])
    .join('')
}

async function waitFor(terminal: PseudoTerminal, text: string, times = 1): Promise<void> {
  await expect
    .poll(() => terminal.shown.split(text).length - 1, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(times)
}

/** Pages forward until the question. */
async function readAll(terminal: PseudoTerminal): Promise<void> {
  for (let pages = 1; ; pages++) {
    await expect
      .poll(
        () => terminal.shown.split('Enter shows them').length > pages || terminal.shown.includes('[y/N]'),
        {
          timeout: 30_000,
        },
      )
      .toBe(true)
    if (terminal.shown.includes('[y/N]')) return
    terminal.type('\r')
  }
}

it('shows no control characters of a metadata value on a terminal', async () => {
  const cli = await prepared()
  await cli.ok('meta', 'set', '/a', 'note', `${ESCAPE}]0;title`)
  expect(await cli.ok('meta', 'get', '/a', 'note')).toBe(`${ESCAPE}]0;title\n`)
  const terminal = atTerminal(cli, ['meta', 'get', '/a', 'note'])
  await terminal.ended()
  expect(terminal.shown).toBe('\\033]0;title\r\n')
})

describe.skipIf(!hasProgram('python3'))('an approval at a terminal', () => {
  it('shows a long command page by page before it asks', async () => {
    const cli = await prepared()
    const terminal = atTerminal(cli, ['exec', '--vault', 'base', '--shell', '--', LONG])
    await waitFor(terminal, 'Enter shows them')
    expect(terminal.shown).not.toContain('at the end')
    await readAll(terminal)
    expect(commandShown(terminal)).toContain('# at the end')
    expect(terminal.shown).toContain('network: yes')
    terminal.type('n\r')
    expect(await terminal.ended()).toMatchObject({ code: 1 })
    expect(terminal.shown).toContain('; you declined it\r\n')
  })

  it('takes a yes before the last page as a no', async () => {
    const cli = await prepared()
    const terminal = atTerminal(cli, ['exec', '--vault', 'base', '--shell', '--', LONG])
    await waitFor(terminal, 'Enter shows them')
    terminal.type('y\r')
    expect(await terminal.ended()).toMatchObject({ code: 1 })
    expect(terminal.shown).toContain('; you declined it\r\n')
    expect(terminal.shown).not.toContain('[y/N]')
  })

  it('lets a command read outside of the workspace, or not', async () => {
    const cli = await prepared()
    const command = ['exec', '--vault', 'base', '--', 'cat', '/etc/passwd']
    const [firstUser = ''] = readFileSync('/etc/passwd', 'utf8').split('\n')
    for (const [answer, code] of [['n', 1] as const, ['y', 0] as const]) {
      const terminal = atTerminal(cli, command)
      await waitFor(terminal, 'Let it run? [y/N]')
      expect(terminal.shown).toContain('reaches /etc/passwd, outside the workspace')
      terminal.type(`${answer}\r`)
      expect(await terminal.ended()).toMatchObject({ code })
      expect(terminal.shown.includes(firstUser)).toBe(code === 0)
    }
    // A program without a terminal is refused, whatever a person has answered.
    expect((await cli.run(command)).stderr).toContain('a rule of policy.toml can allow the path')
    expect(await cli.ok('approve')).toContain('nothing waits')
  })

  it('is requested by coppice approve with everything shown, unless --yes is given', async () => {
    const cli = await prepared()
    const refused = await cli.run(['exec', '--vault', 'base', '--shell', '--', LONG])
    const [, id = ''] = refused.stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    const asking = atTerminal(cli, ['approve', id])
    await readAll(asking)
    expect(commandShown(asking)).toContain('# at the end')
    asking.type('n\r')
    await asking.ended()
    expect(await cli.ok('approve')).toContain(`${id}  waits`)
    const saying = atTerminal(cli, ['approve', '--yes', id])
    expect(await saying.ended()).toMatchObject({ code: 0 })
    expect(saying.shown).not.toContain('[y/N]')
    expect(await cli.ok('approve')).toContain(`${id}  approved`)
  })
})

describe.skipIf(!hasProgram('python3'))('a terminal', () => {
  it('has colours, unless disabled or unsupported', async () => {
    const cli = await prepared()
    const shown = async (env: NodeJS.ProcessEnv) => {
      const terminal = atTerminal(cli, ['log'], env)
      await terminal.ended()
      return terminal.shown
    }
    expect(await shown({})).toContain(ESCAPE)
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) expect(await shown(env)).not.toContain(ESCAPE)
  })

  it.each([
    ['the end of input', END_OF_INPUT],
    ['an interruption', INTERRUPT],
  ])('ends at the start of a line after %s in place of an answer', async (_what, key) => {
    const cli = await prepared()
    const terminal = atTerminal(cli, ['vault', 'delete', 'base'])
    await expect.poll(() => terminal.shown, { timeout: 30_000 }).toContain('[y/N]')
    terminal.type(key)
    expect(await terminal.ended()).toEqual({ code: 130, isRestored: true })
    expect(terminal.shown.endsWith('\r\n')).toBe(true)
    expect(await cli.ok('vault', 'list')).toContain('base')
  })
})

it('coppice export - creates no directory of that name', async () => {
  const cli = await prepared()
  expect(await cli.run(['export', '-'])).toMatchObject({ code: 2, stdout: '' })
})
