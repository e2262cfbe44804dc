import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts'
import { row } from '../../src/store/engines/suite-rows.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] as const
const IDLE_MS = 20_000
const ANSWER_TIMEOUT_MS = 122_000

let server: PostgresServer

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start()
})
afterEach(() => void vi.useRealTimers())
afterAll(() => server?.[Symbol.asyncDispose]())

describe.runIf(hasPostgres)('the connections of the postgres engine', () => {
  it('are closed when nobody uses them', async () => {
    const observer = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
    await observer.connect()
    onTestFinished(() => observer.end())
    const countConnections = async () => {
      const text = "select count(*)::int from pg_stat_activity where application_name = 'coppice'"
      return (await observer.query({ text, rowMode: 'array' })).rows[0]?.[0]
    }
    vi.useFakeTimers({ toFake: [...TIMERS] })
    await using engine = await PostgresEngine.open({ url: server.url('idle'), freshness: 'strict' })
    const tasks = Array.from({ length: 6 }, (_, index) => engine.commit({ journal: [row(index + 1, 1)] }))
    await Promise.all(tasks)
    expect(await countConnections()).toBeGreaterThan(1)
    await vi.advanceTimersByTimeAsync(IDLE_MS)
    await expect.poll(countConnections, { timeout: 10_000 }).toBe(0)
    expect(await engine.commit({ journal: [row(1, 2)] })).toBe(true)
  })

  it('are replaced if one does not answer, and the change is made once', async () => {
    await using proxy = await FaultProxy.start(server.directory)
    const url = server
      .url('silent')
      .replace(encodeURIComponent(server.directory), encodeURIComponent(proxy.directory))
    vi.useFakeTimers({ toFake: [...TIMERS] })
    await using engine = await PostgresEngine.open({ url, freshness: 'strict' })
    const { promise: isSilent, resolve } = Promise.withResolvers<void>()
    proxy.next = () => {
      proxy.next = () => undefined
      resolve()
      return 'silent'
    }
    const committed = engine.commit({ journal: [row(1, 1)] })
    await isSilent
    await vi.advanceTimersByTimeAsync(ANSWER_TIMEOUT_MS)
    vi.useRealTimers()
    expect(await committed).toBe(true)
    expect(await engine.readJournal(1, 0, 10)).toHaveLength(1)
  })
})
