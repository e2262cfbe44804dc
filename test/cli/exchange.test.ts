import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

/** Runs commands in two homes that exchange the vault `base` through a third one. */
class TwoHomes {
  readonly cli: Cli = new Cli()
  readonly hub: string = join(this.cli.scratch, 'hub')
  readonly second: string = join(this.cli.scratch, 'second')

  one(...args: string[]): Promise<string> {
    return this.cli.ok(...args)
  }

  two(...args: string[]): Promise<string> {
    return this.cli.ok(...args, '--home', this.second)
  }
}

it('a vault goes to another home, is changed in both, and comes back merged', async () => {
  const homes = new TwoHomes()
  const { hub } = homes
  await homes.one('vault', 'create', 'base')
  await homes.one('write', '/plan.md', '--text', 'one\ntwo\nthree\nfour\nfive')
  expect(await homes.one('push', 'base', hub)).toBe(`pushed base: 1 file, 24 B to ${hub}\n`)
  expect(await homes.two('pull', 'base', hub)).toBe(`pulled base from ${hub}: 1 file, 24 B\n`)
  await homes.one('write', '/plan.md', '--text', 'ONE\ntwo\nthree\nfour\nfive')
  await homes.two('write', '/plan.md', '--text', 'one\ntwo\nthree\nfour\nFIVE')
  expect(await homes.one('push', 'base', hub)).toBe(`pushed 1 change of base to ${hub}\n`)
  const behind = await homes.cli.run(['push', 'base', hub, '--home', homes.second])
  expect(behind).toMatchObject({ code: 3, stdout: '' })
  expect(behind.stderr).toContain(`coppice pull base ${hub}`)
  expect(await homes.two('pull', 'base', hub)).toBe(`M /plan.md\npulled 1 change of base from ${hub}\n`)
  await homes.two('push', 'base', hub)
  await homes.one('pull', 'base', hub)
  expect(await homes.one('cat', '/plan.md')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n')
  expect(await homes.one('push', 'base', hub)).toBe(`${hub} has all of base already\n`)
  // The fork that remembers the exchange is no vault of the user.
  expect(await homes.cli.json('vault', 'list')).toMatchObject([{ name: 'base' }])
})

it('a conflict between two homes is resolved like one between forks, and pushed', async () => {
  const homes = new TwoHomes()
  const { cli, hub, second } = homes
  await homes.one('vault', 'create', 'base')
  await homes.one('write', '/plan.md', '--text', 'old')
  await homes.one('push', 'base', hub)
  await homes.two('pull', 'base', hub)
  await homes.one('write', '/plan.md', '--text', 'from one')
  await homes.two('write', '/plan.md', '--text', 'from two')
  await homes.one('push', 'base', hub)
  const pulled = await cli.run(['pull', 'base', hub, '--home', second])
  expect(pulled.code).toBe(3)
  expect(pulled.stderr).toContain('C /plan.md')
  expect(await homes.two('cat', '/plan.md')).toBe('from two\n')
  await homes.two('resolve', '/plan.md', '--union')
  await homes.two('merge', '--continue')
  await homes.two('push', 'base', hub)
  await homes.one('pull', 'base', hub)
  expect((await homes.one('cat', '/plan.md')).split('\n').sort()).toEqual(['', 'from one', 'from two'])
})

it('a pulled vault is no fork: it is merged into nothing by default, and not dropped', async () => {
  const homes = new TwoHomes()
  const { cli, hub, second } = homes
  await homes.one('vault', 'create', 'base')
  await homes.one('push', 'base', hub)
  await homes.two('pull', 'base', hub)
  expect(await homes.two('vault', 'list')).not.toContain('fork of')
  expect(await homes.two('vault', 'info', 'base')).not.toContain('forked from')
  await homes.two('write', '/a', '--text', 'mine')
  for (const refused of [
    ['merge', 'base'],
    ['drop', 'base'],
    ['drop', 'b*', '--force'],
  ])
    expect(await cli.run([...refused, '--home', second])).toMatchObject({ code: 1, stdout: '' })
  expect(await homes.two('cat', '/a')).toBe('mine\n')
})

it('a refused push names the pull that merges into the vault, as a shell takes it', async () => {
  const homes = new TwoHomes()
  const { cli } = homes
  const hub = join(cli.scratch, 'the hub')
  await homes.one('vault', 'create', 'base')
  await homes.one('push', 'base', hub, '--as', 'team')
  await cli.ok('write', '/theirs', '--text', 'x', '--home', hub)
  const { code, stderr } = await cli.run(['push', 'base', hub, '--as', 'team'])
  expect(code).toBe(3)
  expect(stderr).toContain(`pull them first: coppice pull team '${hub}' --as base\n`)
  expect(await homes.one('pull', 'team', hub, '--as', 'base')).toContain('A /theirs\n')
  expect((await cli.run(['pull', 'none', hub])).stderr).toContain(`vault list --home '${hub}'\n`)
})

it('bad homes and names are refused before anything is created', async () => {
  const { cli, hub } = new TwoHomes()
  await cli.ok('vault', 'create', 'base')
  expect(await cli.run(['push', 'base', cli.home])).toMatchObject({ code: 1 })
  expect(await cli.run(['push', 'bsae', hub])).toMatchObject({ code: 1 })
  expect(existsSync(hub)).toBe(false)
  const fresh = join(cli.scratch, 'fresh')
  expect((await cli.run(['pull', 'base', hub, '--home', fresh])).stderr).toContain(hub)
  expect(existsSync(fresh)).toBe(false)
  await cli.ok('push', 'base', hub)
  expect((await cli.run(['pull', 'other', hub])).stderr).toContain(`no vault 'other' in ${hub}`)
  await cli.ok('vault', 'create', 'mine')
  const unrelated = await cli.run(['push', 'mine', hub, '--as', 'base'])
  expect(unrelated.code).toBe(1)
  expect(unrelated.stderr).toContain('--as')
})

it('a whole home is copied to one on another engine, and again what changed since', async () => {
  const { cli, hub } = new TwoHomes()
  await cli.ok('vault', 'create', 'one')
  await cli.ok('vault', 'create', 'two', '--use')
  await cli.ok('write', '/a', '--text', 'first')
  await cli.ok('vault', 'create', 'other', '--home', hub, '--engine', 'lmdb')
  expect(await cli.ok('home', 'migrate', hub)).toBe(
    `one: 0 files\ntwo: 1 file\ncopied 2 vaults to ${hub}; use it with: export COPPICE_HOME='${hub}'\n`,
  )
  await cli.ok('write', '/b', '--text', 'second')
  expect(await cli.ok('home', 'migrate', hub)).toMatch(/^one: 0 changes\ntwo: 1 change\n/)
  expect(await cli.ok('ls', '--vault', 'two', '--home', hub)).toBe('a\nb\n')
})
