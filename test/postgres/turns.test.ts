import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Home, openHome } from '../../src/backends/vault/index.ts'
import { type Batch, type Engine, PostgresEngine, StoreHome } from '../../src/store/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

const APPENDS = 10
const REFUSALS_BEFORE_TURN = 2

let server: PostgresServer
let observer: pg.Client

beforeAll(async () => {
  if (!hasPostgres) return
  server = await PostgresServer.start()
  observer = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await observer.connect()
})
afterAll(async () => {
  await observer?.end()
  await server?.[Symbol.asyncDispose]()
})

async function count(text: string): Promise<number> {
  return Number((await observer.query({ text, rowMode: 'array' })).rows[0]?.[0])
}

/** Resolves when work is done, or waits in the database for a lock. */
async function waitUntilBlocked(work: Promise<unknown>): Promise<void> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  while (!isDone && (await count('select count(*) from pg_locks where not granted')) === 0);
}

interface Contender {
  readonly home: Home
  /** Refusals in a row before each commit that was accepted to the same vault. */
  readonly refusals: number[]
}

/** Opens a home that reports refusals; each of its commits with journal rows follows this work. */
async function openContender(url: string, before: () => Promise<void>): Promise<Contender> {
  const engine = await PostgresEngine.open({ url, freshness: 'strict' })
  const refusals: number[] = []
  const inRow = new Map<number, number>()
  const commit = async (batch: Batch): Promise<boolean> => {
    const [first] = batch.journal ?? []
    if (first === undefined) return engine.commit(batch)
    await before()
    const isAccepted = await engine.commit(batch)
    const refused = inRow.get(first.vault) ?? 0
    if (isAccepted) refusals.push(refused)
    inRow.set(first.vault, isAccepted ? 0 : refused + 1)
    return isAccepted
  }
  const contender = new Proxy<Engine>(engine, {
    get: (target, name) => {
      if (name === 'commit') return commit
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { home: new Home(new StoreHome(contender)), refusals }
}

describe.runIf(hasPostgres)('writers of one file', () => {
  it('get their turn, even if another one commits before each of their attempts', async () => {
    const url = server.url('unfair')
    await using quick = await openHome({ url })
    const base = await quick.createVault('base')
    await base.write('/log', '')
    const inFlight: Promise<void>[] = []
    let isContended = false
    const { home, refusals } = await openContender(url, async () => {
      if (!isContended) return
      const append = base.append('/log', `quick-${inFlight.length}\n`)
      inFlight.push(append)
      await waitUntilBlocked(append)
    })
    const slow = await home.vault('base')
    await slow.append('/log', 'first\n')
    isContended = true
    refusals.length = 0
    for (let turn = 0; turn < APPENDS; turn++) await slow.append('/log', `slow-${turn}\n`)
    await Promise.all(inFlight)
    expect(Math.max(...refusals)).toBe(REFUSALS_BEFORE_TURN)
    const lines = (await readText(base, '/log')).split('\n').filter(Boolean)
    expect(new Set(lines).size).toBe(1 + APPENDS + inFlight.length)
    expect(lines).toHaveLength(1 + APPENDS + inFlight.length)
    await home.close()
  })

  it('are refused a bounded number of times, and never wait for each other in a circle', async () => {
    const url = server.url('crowded')
    const contenders = []
    for (let number = 0; number < 4; number++) contenders.push(await openContender(url, async () => {}))
    const [first] = contenders
    const names = ['one', 'two']
    for (const name of names) await (await first?.home.createVault(name))?.write('/log', '')
    const work = contenders.flatMap(({ home }, number) =>
      names.map(async (name) => {
        const vault = await home.vault(name)
        for (let turn = 0; turn < APPENDS; turn++) await vault.append('/log', `${number}-${turn}\n`)
      }),
    )
    await Promise.all(work)
    const most = Math.max(...contenders.flatMap(({ refusals }) => refusals))
    expect(most).toBeLessThanOrEqual(REFUSALS_BEFORE_TURN)
    for (const name of names) {
      const vault = await first?.home.vault(name)
      const lines = vault && (await readText(vault, '/log')).split('\n').filter(Boolean)
      expect(new Set(lines).size).toBe(contenders.length * APPENDS)
    }
    expect(await count("select deadlocks from pg_stat_database where datname = 'postgres'")).toBe(0)
    for (const { home } of contenders) await home.close()
  })

  it('go on after one that stopped in its turn', async () => {
    const url = server.url('stopped')
    await using stopped = await PostgresEngine.open({ url })
    await using home = await openHome({ url })
    const vault = await home.createVault('base')
    await vault.write('/f', 'first')
    const turn = await stopped.takeTurn(await count('select max(vault) from stopped.journal'))
    expect(turn).toBeDefined()
    const written = vault.write('/f', 'x')
    await waitUntilBlocked(written)
    expect(await count('select count(*) from pg_locks where not granted')).toBe(1)
    await written
    expect(await readText(vault, '/f')).toBe('x')
    await turn?.[Symbol.asyncDispose]()
  })
})
