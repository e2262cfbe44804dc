import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROGRAM } from '../mcp/mcp-client.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const withoutPython = !existsSync('/usr/bin/python3')
const ESCAPE = '\u001b'
const END_OF_INPUT = '\u0004'
const INTERRUPT = '\u0003'

/** The program at a terminal. */
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

describe.skipIf(withoutPython)('a terminal', () => {
  it('has colours, unless it is told to have none or can have none', async () => {
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
  ])('is left at the beginning of a line by %s in place of an answer', async (_what, key) => {
    const cli = await prepared()
    const terminal = atTerminal(cli, ['vault', 'delete', 'base'])
    await expect.poll(() => terminal.shown, { timeout: 30_000 }).toContain('[y/N]')
    terminal.type(key)
    expect(await terminal.ended()).toEqual({ code: 130, isRestored: true })
    expect(terminal.shown.endsWith('\r\n')).toBe(true)
    expect(await cli.ok('vault', 'list')).toContain('base')
  })
})

it('coppice export - makes no directory of that name', async () => {
  const cli = await prepared()
  expect(await cli.run(['export', '-'])).toMatchObject({ code: 2, stdout: '' })
})
