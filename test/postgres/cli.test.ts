import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { Machine } from './machine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-shared-'))
let server: PostgresServer
let homes = 0

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start({ fsync: true })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

/** Runs statements as the owner of the database. */
async function runSql(text: string): Promise<void> {
  const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await client.connect()
  await client.query(text)
  await client.end()
}

function newHome(): string {
  return server.url(`home_${++homes}`)
}

describe.runIf(hasPostgres)('the command line on a shared home', () => {
  it('lets two machines fork, write, merge, follow and collect together, whatever is killed', async () => {
    const url = newHome()
    const [ann, bob] = [new Machine(scratch, 'ann', url), new Machine(scratch, 'bob', url)]
    expect(ann.get('home', 'create', url)).toContain('is ready')
    ann.get('vault', 'create', 'base')
    ann.get('write', '/plan.md', '--text', 'one')
    expect(bob.get('cat', '/plan.md')).toBe('one\n')

    const follower = bob.start('log', '--follow', '--json')
    const lines = createInterface({ input: follower.stdout })[Symbol.asyncIterator]()
    expect(JSON.parse((await lines.next()).value ?? '')).toMatchObject({ op: 'write', path: '/plan.md' })
    ann.get('fork', 'base', 'task')
    ann.get('write', '/done.md', '--vault', 'task', '--text', 'done')
    ann.get('merge', 'task', 'base')
    expect(JSON.parse((await lines.next()).value ?? '')).toMatchObject({ path: '/done.md' })
    expect(bob.get('cat', '/done.md', '--vault', 'base')).toBe('done\n')
    follower.kill('SIGKILL')
    await once(follower, 'exit')

    bob.get('checkpoint', 'save', 'before', '--vault', 'base')
    bob.get('drop', 'task')
    expect(bob.get('gc')).toContain('freed')
    await server.kill()
    const lost = ann.run('write', '/lost.md', '--vault', 'base', '--text', 'x')
    expect(lost).toMatchObject({ status: 1, stderr: expect.stringContaining('check that it runs') })
    await server.run()
    expect(ann.run('cat', '/lost.md', '--vault', 'base').status).toBe(1)
    ann.get('write', '/after.md', '--vault', 'base', '--text', 'after')
    expect(bob.get('ls', '/', '--vault', 'base').split('\n').filter(Boolean)).toEqual([
      'after.md',
      'done.md',
      'plan.md',
    ])
    expect(bob.get('diff', 'before', '--vault', 'base')).toContain('/after.md')
    for (const machine of [ann, bob]) expect(machine.get('fsck')).toContain('no damage')
  })

  it('keeps the chosen vault for each user, and shows where the home is', () => {
    const url = newHome()
    const [ann, bob] = [new Machine(scratch, 'ann', url), new Machine(scratch, 'bob', url)]
    ann.get('vault', 'create', 'one', '--use')
    ann.get('vault', 'create', 'two')
    bob.get('vault', 'use', 'two')
    ann.get('write', '/mine', '--text', 'x')
    bob.get('write', '/yours', '--text', 'x')
    expect(ann.get('ls', '/')).toBe('mine\n')
    expect(bob.get('ls', '/')).toBe('yours\n')
    expect(JSON.parse(ann.get('home', 'info', '--json'))).toMatchObject({
      home: expect.stringMatching(/^postgres:/),
      engine: 'postgres',
      isShared: true,
      isReadOnly: false,
      vaults: 2,
    })
    expect(JSON.parse(ann.get('stats', '--json'))).toMatchObject({ engine: 'postgres', vaults: 2, files: 2 })
  })

  it('moves a vault to a home of this machine and back', () => {
    const url = newHome()
    const ann = new Machine(scratch, 'ann', url)
    const [local, stream] = [join(scratch, 'local-home'), join(scratch, 'stream')]
    ann.get('vault', 'create', 'base')
    ann.get('write', '/f', '--text', 'content')
    ann.get('checkpoint', 'save', 'then')
    ann.get('send', '--to', stream)
    ann.get('receive', '--from', stream, '--home', local)
    expect(ann.get('cat', '/f', '--home', local)).toBe('content\n')
    ann.get('receive', '--from', stream, '--as', 'again')
    expect(ann.get('cat', '/f', '--vault', 'again')).toBe('content\n')
  })

  it('exchanges a vault with a home of this machine, both ways', () => {
    const url = newHome()
    const [ann, bob] = [
      new Machine(scratch, 'ann', url),
      new Machine(scratch, 'bob', join(scratch, 'home-of-bob')),
    ]
    ann.get('vault', 'create', 'base')
    ann.get('write', '/plan.md', '--text', 'one')
    bob.get('pull', 'base', url)
    bob.get('write', '/answer.md', '--text', 'two')
    ann.get('write', '/more.md', '--text', 'three')
    expect(bob.run('push', 'base', url).status).toBe(3)
    bob.get('pull', 'base', url)
    expect(bob.get('push', 'base', url)).toBe(`pushed 1 change of base to ${url}\n`)
    expect(ann.get('ls', '/')).toBe('answer.md\nmore.md\nplan.md\n')
    const secret = url.replace('coppice@', 'coppice:secret@')
    expect(bob.run('pull', 'base', secret)).toMatchObject({
      status: 2,
      stderr: expect.not.stringContaining('secret@'),
    })
  })

  it('names the role that may only read, if it runs a command', async () => {
    const url = newHome()
    const [ann, vera] = [
      new Machine(scratch, 'ann', url),
      new Machine(scratch, 'vera', url.replace(/\/\/\w+@/, '//vera@')),
    ]
    ann.get('vault', 'create', 'base')
    ann.get('write', '/a', '--text', 'one')
    const schema = `home_${homes}`
    await runSql(`create role vera login; grant usage on schema ${schema} to vera;
      grant select on all tables in schema ${schema} to vera;
      grant insert, update, delete on ${schema}.sessions to vera`)
    expect(vera.get('cat', '/a')).toBe('one\n')
    const { status, stderr } = vera.run('exec', '--', 'true')
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("role of this home's database may only read"),
    ])
  })

  it('lets a role that has SELECT alone use every command that reads, and copy a vault to mount it', async () => {
    const url = newHome()
    const viewerUrl = url.replace(/\/\/\w+@/, '//viewer@')
    const [ann, viewer] = [new Machine(scratch, 'ann', url), new Machine(scratch, 'viewer', viewerUrl)]
    ann.get('vault', 'create', 'base')
    ann.get('write', '/a', '--text', 'one')
    ann.get('checkpoint', 'save', 'then')
    ann.get('fork', 'base', 'task')
    ann.get('write', '/b', '--text', 'two', '--vault', 'task')
    const schema = `home_${homes}`
    await runSql(`create role viewer login; grant usage on schema ${schema} to viewer;
      grant select on all tables in schema ${schema} to viewer`)
    for (const command of [
      'ls /',
      'tree /',
      'cat /a',
      'grep one',
      'diff then',
      'blame /a',
      'log',
      'export copy',
    ])
      viewer.get(...command.split(' '), '--vault', 'base')
    for (const command of ['stats', 'fsck', 'home info', 'vault list', 'merge task base --dry-run'])
      viewer.get(...command.split(' '))
    const path = join(scratch, 'viewer-part')
    await using home = await openHome({ url: viewerUrl, path })
    await using copy = await home.openMachineCopy('task')
    expect(await readText(await home.vault(copy?.vault ?? ''), '/b')).toBe('two\n')
  })

  it('keeps nothing of a database that was dropped and made again at the same address', async () => {
    const url = newHome()
    const ann = new Machine(scratch, 'ann', url)
    ann.get('vault', 'create', 'base')
    for (const name of ['a', 'b', 'c']) ann.get('write', `/${name}`, '--text', `old ${name}`.repeat(200))
    for (const name of ['a', 'b', 'c']) ann.get('cat', `/${name}`)
    await runSql(`drop schema home_${homes} cascade`)
    ann.get('vault', 'create', 'base')
    for (const name of ['c', 'b', 'a']) ann.get('write', `/${name}`, '--text', `new ${name}`.repeat(200))
    expect(ann.get('cat', '/b')).toBe(`${'new b'.repeat(200)}\n`)
    expect(ann.get('fsck')).toContain('no damage')
  })

  it('keeps nothing of what a restore from a backup has taken back', async () => {
    const ann = new Machine(scratch, 'ann', newHome())
    const schema = `home_${homes}`
    const tables = ['blobs', 'hashes', 'journal', 'pages', 'records']
    const copy = (to: string, from: string) => `insert into ${to} table ${from};`
    ann.get('vault', 'create', 'base')
    await runSql('create schema kept;')
    for (const name of tables) await runSql(`create table kept.${name} as table ${schema}.${name};`)
    for (const name of ['a', 'b', 'c']) ann.get('write', `/${name}`, '--text', `old ${name}`.repeat(200))
    for (const name of ['a', 'b', 'c']) ann.get('cat', `/${name}`)
    const caches = () => globSync(join(scratch, 'ann/.coppice/shared-homes/*/cache-*.db')).length
    const before = caches()
    expect(before).toBeGreaterThan(0)
    for (const name of tables)
      await runSql(`truncate ${schema}.${name}; ${copy(`${schema}.${name}`, `kept.${name}`)}`)
    for (const name of ['c', 'b', 'a']) ann.get('write', `/${name}`, '--text', `new ${name}`.repeat(200))
    for (const name of ['a', 'b', 'c']) expect(ann.get('cat', `/${name}`)).toContain(`new ${name}new ${name}`)
    expect(caches()).toBe(before)
  })

  it('takes no password in an argument, and shows none', () => {
    const url = newHome().replace('coppice@', 'coppice:geheim@')
    const ann = new Machine(scratch, 'ann', url)
    for (const args of [
      ['ls', '--home', url],
      ['home', 'create', url],
    ]) {
      const { status, stderr } = ann.run(...args)
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('PGPASSWORD') })
      expect(stderr).not.toContain('geheim')
    }
    const missing = ann.run('ls')
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no home in') })
    ann.get('vault', 'create', 'base')
    const shown = [missing, ann.run('home', 'info'), ann.run('stats', '--json'), ann.run('cat', '/none')]
    expect(shown.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain('geheim')
  })
})
