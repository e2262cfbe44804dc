import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { PostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts'
import { row } from '../../src/store/engines/suite-rows.ts'
import { readText } from '../../src/vfs/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

/** Longer than a count stays fresh, whatever the sum of two times is rounded to. */
const SECOND = 1001
const POLL = { timeout: 30_000 }

let server: PostgresServer
let places = 0
const place = () => server.url(`home_${++places}`)

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start()
})
afterAll(() => server?.[Symbol.asyncDispose]())
afterEach(() => {
  vi.restoreAllMocks()
})

/** Stops the clock by which a count becomes old. */
function stopClock(): { turn: (ms: number) => void } {
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return {
    turn: (ms) => {
      now += ms
    },
  }
}

/** Lets an engine live long enough to listen; it tries again each second. Returns the number of listeners. */
async function listenSoon(engine: PostgresEngine, clock: { turn: (ms: number) => void }): Promise<number> {
  clock.turn(SECOND)
  await engine.changeCount()
  return countListeners()
}

async function countListeners(): Promise<number> {
  const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await client.connect()
  const { rows } = await client.query(
    `select 1 from pg_stat_activity where query = 'listen coppice_home_${places}'`,
  )
  await client.end()
  return rows.length
}

describe.runIf(hasPostgres)('a home in PostgreSQL', () => {
  it('that is strict asks for each turn, and shows what others committed at once', async () => {
    const url = place()
    await using one = await PostgresEngine.open({ url, freshness: 'strict' })
    await using other = await PostgresEngine.open({ url })
    stopClock()
    const before = await one.changeCount()
    expect(await Promise.all([one.changeCount(), one.changeCount()])).toEqual([before, before])
    await other.commit({ journal: [row(1, 1)] })
    expect(await one.changeCount()).not.toBe(before)
  })

  it('that is notified asks the database once a second, and not before', async () => {
    const url = place()
    await using one = await PostgresEngine.open({ url })
    await using other = await PostgresEngine.open({ url })
    const clock = stopClock()
    const before = await one.changeCount()
    await other.commit({ journal: [row(1, 1)] })
    expect(one.changeCount()).toBe(before)
    clock.turn(SECOND)
    expect(await one.changeCount()).not.toBe(before)
  })

  it('that is notified hears of commits of others by a hint, and of its own by none', async () => {
    const url = place()
    await using one = await PostgresEngine.open({ url })
    await using other = await PostgresEngine.open({ url })
    const clock = stopClock()
    await one.changeCount()
    await expect.poll(() => listenSoon(one, clock), POLL).toBe(1)
    const before = await one.changeCount()
    await one.commit({ journal: [row(2, 1)] })
    expect(one.changeCount()).toBe(before)
    await other.commit({ journal: [row(1, 1)] })
    await expect.poll(() => one.changeCount(), POLL).not.toBe(before)
  })

  it('that is notified hears of the vaults that others changed, and of no other', async () => {
    const url = place()
    await using one = await PostgresEngine.open({ url })
    await using other = await PostgresEngine.open({ url })
    const clock = stopClock()
    const countAll = () => Promise.all([1, 2].map((vault) => one.changeCount(vault)))
    await countAll()
    await expect.poll(() => listenSoon(one, clock), POLL).toBe(1)
    const [first, second] = await countAll()
    await other.commit({ journal: [row(1, 1), row(1, 2)] })
    await expect.poll(() => one.changeCount(1), POLL).not.toBe(first)
    expect(one.changeCount(2)).toBe(second)
    // One that missed a hint learns of it by asking.
    clock.turn(SECOND)
    expect(await one.changeCount(2)).not.toBe(second)
  })

  it('shows own writes at once, those of others soon, and decides every write by what is stored', async () => {
    const url = place()
    await using one = await openHome({ url })
    await using other = await openHome({ url })
    const mine = await one.createVault('base')
    const yours = await other.vault('base')
    await mine.write('/f', 'one')
    expect(await readText(mine, '/f')).toBe('one')
    await expect.poll(() => yours.exists('/f'), POLL).toBe(true)
    await Promise.all([mine.append('/f', '+'), yours.append('/f', '+'), mine.append('/f', '+')])
    await expect.poll(() => readText(mine, '/f'), POLL).toBe('one+++')
    await expect.poll(() => readText(yours, '/f'), POLL).toBe('one+++')
  })

  it('hears again after its connection was lost', async () => {
    const url = place()
    await using one = await openHome({ url })
    await using other = await openHome({ url })
    const mine = await one.createVault('base')
    const yours = await other.vault('base')
    const changes = yours.changes({ follow: true })
    await mine.write('/first', '1')
    expect((await changes.next()).value).toMatchObject({ path: '/first' })
    await server.kill()
    await server.run()
    await mine.write('/second', '2')
    expect((await changes.next()).value).toMatchObject({ path: '/second' })
    await changes.return(undefined)
  })
})
