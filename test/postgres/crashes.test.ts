import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openHome, type Vault } from '../../src/backends/vault/index.ts'
import { isVfsError, readText } from '../../src/vfs/index.ts'
import { openPlace, type Place } from '../support/engines.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { startProgram } from '../support/run-writer.ts'
import { scaled } from '../support/scale.ts'

const KILLS = scaled(3, 50)
const WRITERS = 3
const MOST_PAUSE_MS = 300

let server: PostgresServer
let places = 0
const place = () => server.url(`home_${++places}`)

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start({ fsync: true })
})
afterAll(() => server?.[Symbol.asyncDispose]())

/** Appends lines until it is stopped. A line whose outcome is unknown may be there or not. */
class Appender {
  readonly acknowledged: string[] = []
  readonly unknown: string[] = []
  isStopped = false
  readonly #vault: Vault
  readonly #name: string

  constructor(vault: Vault, name: string) {
    this.#vault = vault
    this.#name = name
  }

  async run(): Promise<void> {
    for (let number = 0; !this.isStopped; number++) {
      const line = `${this.#name}-${number}`
      try {
        await this.#vault.append('/log', `${line}\n`)
        this.acknowledged.push(line)
      } catch (error) {
        if (isVfsError(error, 'EUNKNOWN')) this.unknown.push(line)
        else if (!isVfsError(error, 'EUNAVAILABLE')) throw error
      }
    }
  }
}

function countAcknowledged(appenders: readonly Appender[]): number {
  return appenders.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
}

describe.runIf(hasPostgres)('a PostgreSQL that is killed', () => {
  it('has everything that was acknowledged with full durability, once', async () => {
    const url = place()
    const homes = await Promise.all(Array.from({ length: WRITERS }, () => openHome({ url })))
    const [first] = homes
    await (await first?.createVault('base'))?.write('/log', '')
    const appenders = await Promise.all(
      homes.map(async (home, number) => new Appender(await home.vault('base'), `writer-${number}`)),
    )
    const running = Promise.all(appenders.map((appender) => appender.run()))
    for (let kill = 0; kill < KILLS; kill++) {
      const before = countAcknowledged(appenders)
      // Any of them: one that others overtake again and again may wait for long.
      await expect.poll(() => countAcknowledged(appenders), { timeout: 60_000 }).not.toBe(before)
      await delay(Math.random() * MOST_PAUSE_MS)
      await server.kill()
      await server.run()
    }
    for (const appender of appenders) appender.isStopped = true
    await running
    for (const home of homes) await home.close()

    await using home = await openHome({ url })
    const lines = (await readText(await home.vault('base'), '/log')).split('\n').filter(Boolean)
    const times = Map.groupBy(lines, (line) => line)
    const acknowledged = appenders.flatMap((appender) => appender.acknowledged)
    expect(acknowledged.length).toBeGreaterThan(KILLS)
    expect(acknowledged.filter((line) => times.get(line)?.length !== 1)).toEqual([])
    const known = new Set([...acknowledged, ...appenders.flatMap(({ unknown }) => unknown)])
    expect(lines.filter((line) => !known.has(line) || times.get(line)?.length !== 1)).toEqual([])
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('may lose the last changes with less durability, and every writer goes on with what is stored', async () => {
    const url = place()
    await using home = await openHome({ url, durability: 'process' })
    const vault = await home.createVault('base')
    for (let number = 0; number < 20; number++) await vault.write(`/${number}`, 'x')
    await server.kill()
    await server.run()
    // Whatever the crash has taken, a caller who tries again goes on.
    for (let number = 0; number < 20; number++) {
      await vault.write(`/${number}`, 'again').catch((error: unknown) => {
        if (!isVfsError(error, 'EUNKNOWN') && !isVfsError(error, 'ENOENT')) throw error
      })
    }
    await using other = await openHome({ url })
    if ((await other.vaults()).includes('base')) await (await other.vault('base')).write('/after', 'x')
    expect((await other.fsck()).damaged).toEqual([])
  })
})

describe.runIf(hasPostgres)('a client that was stopped for too long', () => {
  it('is refused once after a collection went on without it, and leaves no damage', async () => {
    const where: Place = { path: place(), engine: 'postgres' }
    const { home } = await openPlace(where)
    const vault = await home.createVault('base')
    const names = Array.from({ length: 200 }, (_, index) => `/file-${index}`)
    await Promise.all(names.map((path) => vault.write(path, `${path} ${'x'.repeat(3000)}`)))
    await vault.close()
    const child = startProgram('stopped-writer', where)
    const lines = createInterface({ input: child.stdout })
    await once(lines, 'line')
    child.kill('SIGSTOP')
    for (const path of names) await vault.remove(path)
    await vault.close()
    expect((await home.gc({ sessionTimeoutMs: 200 })).pages).toBeGreaterThan(0)
    const outcomes: string[] = []
    lines.on('line', (line) => outcomes.push(line))
    // It is there before the process goes on, so the write comes before anything else.
    child.stdin.write('write\n')
    child.kill('SIGCONT')
    await once(lines, 'line')
    child.stdin.end('write\n')
    await once(child, 'exit')
    expect(outcomes.at(-1)).toBe('done')
    expect(['done', 'EUNAVAILABLE']).toContain(outcomes[0])
    expect((await home.fsck()).damaged).toEqual([])
    // Without a hint, the change of another process is seen within a second.
    await vi.waitFor(async () => expect(await vault.exists('/late-2')).toBe(true), 20_000)
    await home.close()
  })
})
