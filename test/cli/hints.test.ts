import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

/** A home with two vaults, none of them current: each command has to name one. */
async function cliWithVaults(): Promise<Cli> {
  const cli = new Cli()
  for (const vault of ['base', 'other']) await cli.ok('vault', 'create', vault)
  await cli.ok('write', '/src/a.ts', '--text', 'x', '--vault', 'base')
  return cli
}

/** Returns the words after `coppice` of the command that a message ends with. */
function parseHint(message: string): string[] {
  const [, hint = ''] = /; see coppice ([^\n]+)\n$/.exec(message) ?? []
  return hint.split(' ')
}

describe('the hint of an error', () => {
  it('of a tool names a tool: a model has no command line', async () => {
    const { stderr } = await new Cli().run(['tool', 'call', 'workspace_merge', '{"fork":"nope"}'])
    expect(stderr).toContain("there is no fork 'nope', nor any other; workspace_fork makes one")
  })

  it.each([
    ['cat', '/nope'],
    ['cat', '/src/a.ts', '--at', 'nope'],
    ['checkpoint', 'restore', 'nope'],
    ['checkpoint', 'info', 'nope'],
    ['tag', 'remove', 'src/a.ts', 'nope'],
    ['meta', 'get', 'src/a.ts', 'nope'],
    ['meta', 'remove', 'src/a.ts', 'nope'],
  ])('works as typed, with the vault and the home of the command: %s %s', async (...words) => {
    const cli = await cliWithVaults()
    const failed = await cli.run([...words, '--vault', 'base'])
    expect(failed.code).toBe(1)
    expect(parseHint(failed.stderr).slice(-2)).toEqual(['--vault', 'base'])
    await cli.ok(...parseHint(failed.stderr))
    const env = { COPPICE_HOME: join(cli.scratch, 'elsewhere') }
    const elsewhere = await cli.run([...words, '--vault', 'base', '--home', cli.home], { env })
    expect(parseHint(elsewhere.stderr).slice(-2)).toEqual(['--home', cli.home])
    expect(await cli.run(parseHint(elsewhere.stderr), { env })).toMatchObject({ code: 0, stderr: '' })
  })

  it('names the home of another list of vaults', async () => {
    const cli = await cliWithVaults()
    const { stderr } = await cli.run(['ls', '--vault', 'nope', '--home', cli.home])
    expect(stderr).toBe(`coppice: there is no vault 'nope'; see coppice vault list --home ${cli.home}\n`)
  })

  it('quotes a path with spaces, and names the directory to list or remove', async () => {
    const cli = await cliWithVaults()
    const missing = await cli.run(['cat', '/my files/x', '--vault', 'base'])
    expect(missing.stderr).toContain("; see coppice ls '/my files' --vault base\n")
    const directory = await cli.run(['cat', '/src', '--vault', 'base'])
    expect(directory.stderr).toContain(
      'list it with coppice ls /src --vault base, remove it with coppice rm -r /src --vault base\n',
    )
  })
})
