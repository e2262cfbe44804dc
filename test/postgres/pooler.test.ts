import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { hasProgram } from '../support/debian-programs.ts'
import { Pooler } from '../support/pooler.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

const HOMES = 4
const APPENDS = 15

describe.runIf(hasPostgres && hasProgram('pgbouncer'))('behind a pooler in transaction mode', () => {
  it('homes write, fork, merge, follow and collect together', async () => {
    await using server = await PostgresServer.start()
    await using pooler = await Pooler.start(server.directory)
    const url = `postgres://coppice@/postgres?host=${pooler.directory}&schema=pooled`
    const homes = []
    for (let number = 0; number < HOMES; number++) homes.push(await openHome({ url }))
    const [first] = homes
    if (first === undefined) throw new Error('no home')
    const base = await first.createVault('base')
    await base.write('/log', '')
    const work = homes.map(async (home, number) => {
      const vault = await home.vault('base')
      for (let turn = 0; turn < APPENDS; turn++) await vault.append('/log', `${number}-${turn}\n`)
      const fork = await home.fork('base', `fork-${number}`)
      await fork.write(`/from-${number}`, 'x'.repeat(100_000))
      await home.merge(`fork-${number}`, 'base')
      await home.gc()
    })
    await Promise.all(work)
    await expect
      .poll(async () => (await Array.fromAsync(base.walk('/'))).length, { timeout: 30_000 })
      .toBe(HOMES + 1)
    const lines = (await readText(base, '/log')).split('\n').filter(Boolean)
    expect(new Set(lines).size).toBe(HOMES * APPENDS)
    expect(lines).toHaveLength(HOMES * APPENDS)
    expect((await first.fsck()).damaged).toEqual([])
    for (const home of homes) await home.close()
  })
})
