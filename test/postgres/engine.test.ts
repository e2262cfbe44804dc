import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineSuite } from '../../src/store/engine-suite.ts'
import { PostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts'
import { bytes, row } from '../../src/store/engines/suite-rows.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

const ROLES = 'create role reader login; create role member login; create role stranger login'

let server: PostgresServer
let places = 0
const place = () => server.url(`home_${++places}`)
const open = (url: string) => PostgresEngine.open({ url, freshness: 'strict' })

beforeAll(async () => {
  if (!hasPostgres) return
  server = await PostgresServer.start()
  await sql(ROLES)
})
afterAll(() => server?.[Symbol.asyncDispose]())

/** Runs SQL as the owner of the database. */
async function sql(text: string): Promise<unknown[]> {
  const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const when = describe.runIf(hasPostgres)

for (const durability of ['full', 'process'] as const) {
  engineSuite(
    { describe: (name, body) => when(name, body), it },
    {
      name: `postgres, ${durability}`,
      open: (url) => PostgresEngine.open({ url, durability, freshness: 'strict' }),
      place,
      isPersistent: true,
      isShared: true,
    },
  )
}

when('the postgres engine', () => {
  it('works in a schema whose name is a word of SQL, and in no schema of PostgreSQL', async () => {
    for (const schema of ['user', 'order', 'table', 'select']) {
      await using engine = await open(server.url(schema))
      await engine.commit({
        journal: [{ vault: 1, seq: 1, bytes: bytes('first') }],
        pages: [{ id: 1, bytes: bytes('page') }],
      })
      await using turn = await engine.takeTurn(1)
      expect(turn).toBeDefined()
      await using again = await open(server.url(schema))
      expect(await again.readJournal(1, 0, 9)).toHaveLength(1)
      expect((await again.usage()).pages.count).toBe(1)
    }
    for (const schema of ['pg_home', 'pg_catalog', 'information_schema'])
      await expect(open(server.url(schema))).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('gives back every byte as it was, whatever its value', async () => {
    await using engine = await open(place())
    const every = Buffer.from(Array.from({ length: 256 }, (_, value) => value))
    const contents = [every, Buffer.alloc(0), Buffer.from("\\x'\0\\000"), randomBytes(3_000_000)]
    for (const [index, content] of contents.entries()) {
      const [id, key] = [index + 1, `record ${index}`]
      await engine.commit({
        pages: [{ id, bytes: content }],
        blobs: [{ id, hash: randomBytes(32), bytes: content }],
        journal: [{ vault: id, seq: 1, bytes: content }],
        records: [{ key, bytes: content }],
      })
      const found = [
        await engine.readPage(id),
        await engine.readBlob(id),
        (await engine.readJournal(id, 0, 1))[0]?.bytes,
        await engine.readRecord(key),
      ]
      expect(found.map((each) => each && Buffer.compare(each, content))).toEqual([0, 0, 0, 0])
    }
  })

  it('tells records apart whose keys have characters of SQL', async () => {
    await using engine = await open(place())
    const keys = ['a"b', 'a\\b', 'a,b', '{a}', "a'b", 'NULL', ' a ']
    const records = keys.map((key) => ({ key, bytes: bytes(key) }))
    const absent = keys.map((key) => ({ key, bytes: null }))
    expect(await engine.commit({ expect: absent, records })).toBe(true)
    for (const key of keys) {
      expect(await engine.readRecord(key)).toEqual(Buffer.from(key))
      expect(await engine.commit({ expect: [{ key, bytes: null }], journal: [row(1, 1)] })).toBe(false)
      expect(
        await engine.commit({ expect: [{ key, bytes: bytes(key) }], records: [{ key, bytes: null }] }),
      ).toBe(true)
    }
    expect(await engine.listRecords('')).toEqual([])
  })

  it('is created once by openers that come at the same moment', async () => {
    const url = place()
    const engines = await Promise.all(Array.from({ length: 6 }, () => open(url)))
    const taken = await Promise.all(engines.map((engine) => engine.commit({ journal: [row(1, 1)] })))
    expect(taken.filter(Boolean)).toHaveLength(1)
    for (const engine of engines) await engine.close()
  })

  it('is not created where it must exist', async () => {
    const url = place()
    const missing = { code: 'ENOENT', message: expect.stringContaining('coppice home create') }
    await expect(PostgresEngine.open({ url, mustExist: true })).rejects.toMatchObject(missing)
    await (await open(url)).close()
    await (await PostgresEngine.open({ url, mustExist: true })).close()
  })

  it('refuses a format it does not know, and a schema of another program', async () => {
    const later = place()
    await (await open(later)).close()
    await sql(`update home_${places}.home set value = '99' where key = 'format'`)
    await expect(open(later)).rejects.toThrow(/format 99, this version knows 3; update coppice/)
    const foreign = place()
    await sql(`create schema home_${places}; create table home_${places}.invoices ()`)
    await expect(open(foreign)).rejects.toThrow(/another program with 'invoices'/)
  })

  it('adds its functions to a home of an earlier version, for everybody, if its owner opens it', async () => {
    const url = place()
    const schema = `home_${places}`
    await (await open(url)).close()
    await sql(`drop function ${schema}.append, ${schema}.sweep, ${schema}.commit;
      create function ${schema}.commit(int) returns int language sql as 'select 7';
      delete from ${schema}.home where key = 'functions';
      grant usage on schema ${schema} to member;
      grant select, insert, update, delete on all tables in schema ${schema} to member`)
    const asMember = url.replace('coppice@', 'member@')
    const refused = {
      code: 'ENOTSUP',
      message: expect.stringContaining('open it once with this version as its owner'),
    }
    await expect(open(asMember)).rejects.toMatchObject(refused)
    await using owner = await open(url)
    expect(await owner.commit({ journal: [row(1, 1)] })).toBe(true)
    await using member = await open(asMember)
    expect(await member.commit({ journal: [row(1, 2)] })).toBe(true)
    // Machines with the earlier version still call theirs.
    expect(await sql(`select ${schema}.commit(1)`)).toEqual([{ commit: 7 }])
  })

  it('is read by a role that may not write, and closed to a stranger', async () => {
    const url = place()
    await using writer = await open(url)
    await writer.commit({ records: [{ key: 'a', bytes: bytes('1') }] })
    await sql(`grant usage on schema home_${places} to reader;
      grant select on all tables in schema home_${places} to reader`)
    await using reader = await open(url.replace('coppice@', 'reader@'))
    expect(reader.isReadOnly).toBe(true)
    expect(await reader.readRecord('a')).toEqual(Buffer.from('1'))
    await expect(reader.commit({ journal: [row(1, 1)] })).rejects.toMatchObject({ code: 'EROFS' })
    await expect(open(url.replace('coppice@', 'stranger@'))).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('never shows its password, whatever fails', async () => {
    const urls = [
      'postgres://ann:geheim@127.0.0.1:1/work',
      'postgres://ann:geheim@/work?host=/no/such/directory',
      server.url(`home_${++places}`).replace('coppice@', 'nobody-here:geheim@'),
    ]
    for (const url of urls) {
      const failure: unknown = await open(url).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(Error)
      expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain('geheim')
      expect(JSON.stringify(failure)).not.toContain('geheim')
    }
  })

  it('refuses a commit after a collection went on without its session, and takes the next', async () => {
    await using engine = await open(place())
    const { sessionRegistry } = engine
    await sessionRegistry.publish('me', '{"isBusy":true}')
    expect(await engine.commit({ journal: [row(1, 1)] })).toBe(true)
    await sql(`delete from home_${places}.sessions`)
    const refused = { code: 'EUNAVAILABLE', message: expect.stringContaining('did not answer in time') }
    await expect(engine.commit({ journal: [row(1, 2)] })).rejects.toMatchObject(refused)
    expect(await engine.commit({ journal: [row(1, 2)] })).toBe(true)
    await sessionRegistry.publish('me', '{"isBusy":true}')
    await sessionRegistry.remove('me')
    expect(await engine.commit({ journal: [row(1, 3)] })).toBe(true)
  })

  it('refuses it also if the session has published another entry meanwhile', async () => {
    await using engine = await open(place())
    const { sessionRegistry } = engine
    expect(await sessionRegistry.publish('me', '{"isBusy":true}')).toBe(true)
    expect(await sessionRegistry.publish('me', '{"isBusy":false}')).toBe(false)
    await sql(`delete from home_${places}.sessions`)
    expect(await sessionRegistry.publish('me', '{"isBusy":true}')).toBe(true)
    await expect(engine.commit({ journal: [row(1, 1)] })).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    expect(await engine.commit({ journal: [row(1, 1)] })).toBe(true)
    await sql(`delete from home_${places}.sessions`)
    await expect(engine.commit({ journal: [row(1, 2)] })).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })

  it('leaves no gap in a journal whose end a crash took', async () => {
    await using engine = await open(place())
    await engine.commit({ journal: [row(1, 1), row(1, 2), row(1, 3)] })
    await sql(`delete from home_${places}.journal where seq > 1`)
    await expect(engine.commit({ journal: [row(1, 4)] })).rejects.toMatchObject({ code: 'EUNKNOWN' })
    await expect(engine.commit({ journal: [row(1, 4), row(1, 5)] })).rejects.toMatchObject({
      code: 'EUNKNOWN',
    })
    expect(await engine.commit({ journal: [row(1, 2)] })).toBe(true)
  })

  it('decides between writers of records in every order', async () => {
    const url = place()
    const engines = await Promise.all([open(url), open(url), open(url)])
    const add = async (engine: PostgresEngine, keys: readonly string[]): Promise<void> => {
      const found = await Promise.all(keys.map((key) => engine.readRecord(key)))
      const expected = keys.map((key, index) => ({ key, bytes: found[index] ?? null }))
      const records = keys.map((key, index) => ({
        key,
        bytes: bytes(String(Number(found[index] ? Buffer.from(found[index]).toString() : 0) + 1)),
      }))
      if (!(await engine.commit({ expect: expected, records }))) return add(engine, keys)
    }
    const orders = [
      ['a', 'b'],
      ['b', 'c', 'a'],
      ['c', 'b'],
    ]
    const work = engines.map(async (engine, number) => {
      for (let turn = 0; turn < 20; turn++) await add(engine, orders[(turn + number) % 3] ?? [])
    })
    await Promise.all(work)
    const [engine] = engines
    const sums = await Promise.all(['a', 'b', 'c'].map((key) => engine?.readRecord(key)))
    expect(sums.map((sum) => Number(Buffer.from(sum ?? []).toString()))).toEqual([40, 60, 40])
    for (const each of engines) await each.close()
  })
})
