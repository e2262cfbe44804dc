import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Cli } from './run-cli.ts'

describe('a directory that is no home', () => {
  const looking = [
    ...['ls', 'log', 'stats', 'fsck', 'ps', 'approve', 'apply'].map((name) => [name]),
    ...['vault', 'tasks', 'cron', 'context', 'cache'].map((name) => [name, 'list']),
    ['memory', 'show'],
    ['memory', 'recall', 'x'],
    ['tasks', 'update', '1', '--status', 'completed'],
  ]

  it.each(looking)('is not turned into one by a read-only command: %s %s', async (...words) => {
    const cli = new Cli()
    writeFileSync(join(cli.files, 'README.md'), '# Shop\n')
    for (const home of [cli.files, join(cli.scratch, 'missing')]) {
      const run = await cli.run([...words.filter((word) => word !== undefined), '--home', home])
      expect(run).toMatchObject({ code: 1, stdout: '' })
      expect(run.stderr).toContain(`there is no home in ${home}; `)
    }
    expect(readdirSync(cli.files)).toEqual(['README.md'])
    expect(readdirSync(cli.scratch)).toEqual(['files'])
  })

  it('has no daemon, and looking for one creates nothing', async () => {
    const cli = new Cli()
    expect(await cli.json('daemon', 'status')).toEqual({ running: false })
    expect(await cli.json('daemon', 'stop')).toEqual({ stopped: false })
    expect(await cli.ok('agents')).toMatch(/^code-reviewer +built in +\S/)
    expect(await cli.ok('skills')).toContain('built in')
    expect(readdirSync(cli.scratch)).toEqual(['files'])
  })

  it('becomes one on the first write, and keeps an existing configuration', async () => {
    const cli = new Cli()
    mkdirSync(join(cli.home, 'agents'), { recursive: true })
    mkdirSync(join(cli.home, 'agents/own'))
    writeFileSync(join(cli.home, 'agents/own/agent.yaml'), 'description: Mine.\n')
    writeFileSync(join(cli.home, 'agents/own/instructions.md'), 'Work.\n')
    await cli.ok('vault', 'create', 'base', '--engine', 'level')
    expect(await cli.json('agents')).toContainEqual({ name: 'own', origin: 'home', description: 'Mine.' })
    expect(await cli.json('daemon', 'status')).toEqual({ running: false })
    expect(await cli.json('stats')).toMatchObject({ engine: 'level' })
    expect(await cli.ok('vault', 'list')).toContain('base')
  })

  it('is reported precisely, if it is a file or has an invalid store', async () => {
    const cli = new Cli()
    const file = join(cli.files, 'file')
    writeFileSync(file, 'x')
    const commands = ['ls', 'exec -- true', 'config show', 'mcp', 'ui --no-open', 'daemon status', 'doctor']
    for (const path of [file, join(file, 'home')]) {
      const stderr = `coppice: ${path} is not a directory; name one with --home or COPPICE_HOME\n`
      for (const command of commands) {
        const run = await cli.run(command.split(' '), { env: { COPPICE_HOME: path } })
        expect(run, command).toEqual({ code: 1, stdout: '', stderr })
      }
    }
    const store = join(cli.files, 'store.db')
    writeFileSync(store, 'no database')
    const { stderr } = await cli.run(['ls', '--home', cli.files, '--json'])
    const message = `the store ${store} cannot be opened: file is not a database; keep a copy of it, and restore the home from a backup`
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'EIO', message, path: store } })
  })
})

describe('the engine of a home', () => {
  it('is the one it was created with, whatever the configuration says later', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    writeFileSync(join(cli.home, 'config.toml'), 'engine = "lmdb"\n')
    for (const command of ['ls', 'stats', 'fsck', 'ps']) {
      const { code, stderr } = await cli.run([command])
      expect(code, command).toBe(1)
      expect(stderr).toContain("is on 'sqlite' (store.db), not on 'lmdb'")
    }
    expect(readdirSync(cli.home)).not.toContain('store.lmdb')
    const { stderr } = await cli.run(['vault', 'create', 'other', '--engine', 'level'])
    expect(stderr).toContain('uses the engine sqlite; name another --home for level')
  })

  it('is detected without a configuration in a home of the library', async () => {
    const cli = new Cli()
    await using home = await openHome({ path: cli.home, engine: 'lmdb' })
    await home.createVault('base')
    expect(await cli.json('stats')).toMatchObject({ engine: 'lmdb' })
    expect(await cli.ok('vault', 'list')).toContain('base')
    expect(readdirSync(cli.home)).not.toContain('store.db')
  })
})

describe('an empty path of this machine', () => {
  const commands = [
    ['import', '', '--vault', 'base'],
    ['export', ''],
    ['git', 'import', ''],
    ['vault', 'list', '--home', ''],
    ['send', '--to', ''],
  ]

  it.each(commands)('is refused, and does not mean the working directory: %s %s %s %s', async (...words) => {
    const cli = new Cli()
    const run = await cli.run(words.filter((word) => word !== undefined))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/ is empty; name a file or directory; see coppice /)
    expect(readdirSync(cli.scratch)).toEqual(['files'])
  })
})

it.each([
  ['vault', 'create', ''],
  ['exec', '--fork', '', '--', 'true'],
])('an empty name is reported as empty: coppice %s %s', async (...args) => {
  const run = await new Cli().run(args)
  expect(run).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^coppice: the name of a vault or fork is/),
  })
})
