import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openHome } from '../../src/backends/vault/index.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { MACHINES, measureMachines } from './machines.ts'
import { countOperations, SMALL_BYTES } from './sizes.ts'

const IDLE_VAULTS = 50
/** Connections that nobody used for ten seconds are closed, first that of hints. */
const IDLE_MS = 22_000

/** Several machines: commits in forks of their own, writes in a leased vault, and what an idle home costs. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { commits } = countOperations(settings)
  await using server = await PostgresServer.start({ fsync: true })
  const url = server.url('bench')
  await using home = await openHome({ url, path: mkdtempSync(join(settings.directory, 'machine-')) })
  await home.createVault('base')
  for (let number = 0; number < MACHINES; number++) await home.fork('base', `fork-${number}`)
  const works = { near: ['machine', 'machines'], far: ['far', 'all-far'] } as const
  for (const distance of ['near', 'far'] as const)
    await measureMachines(recorder, works[distance], {
      program: new URL('./machine-process.ts', import.meta.url),
      args: Array.from({ length: MACHINES }, (_, number) => [url, `fork-${number}`, distance]),
      commits,
    })
  await measureLease(recorder, settings, home)
  await measureIdle(recorder, server, settings)
}

async function measureLease(
  recorder: Recorder,
  settings: Settings,
  home: Awaited<ReturnType<typeof openHome>>,
): Promise<void> {
  const { files: writes } = countOperations(settings)
  await using local = await openHome({ path: mkdtempSync(join(settings.directory, 'local-')) })
  await using lease = await home.lease('base')
  const bytes = Buffer.alloc(SMALL_BYTES, 'x')
  let passes = 0
  const vaults = { local: await local.createVault('base'), leased: lease.vault }
  for (const [work, vault] of Object.entries(vaults)) {
    await recorder.record(work, {
      operations: writes,
      expected: writes,
      pass: async () => {
        passes++
        for (let number = 0; number < writes; number++)
          await vault.write(`/${passes}/${number % 100}/${number}`, bytes)
        return writes
      },
    })
  }
}

/** Counts what grows, and the connections, while a home with many open vaults does nothing. */
async function measureIdle(recorder: Recorder, server: PostgresServer, { isQuick }: Settings): Promise<void> {
  const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await client.connect()
  await using home = await openHome({ url: server.url('idle') })
  for (let number = 0; number < IDLE_VAULTS; number++)
    await (await home.createVault(`vault-${number}`)).write('/f', 'x')
  const countRows = async () => {
    const tables = ['pages', 'blobs', 'hashes', 'records', 'journal', 'outcomes', 'sessions']
    const sums = tables.map((table) => `(select count(*) from idle.${table})`).join(' + ')
    const { rows } = await client.query({ text: `select ${sums}`, rowMode: 'array' })
    return Number(rows[0]?.[0])
  }
  await delay(2000)
  const before = await countRows()
  await delay(isQuick ? 1000 : IDLE_MS)
  recorder.note('idle-rows', Math.max(0, (await countRows()) - before))
  if (isQuick) recorder.skip('idle-connections', 'takes 22 s')
  else {
    const query =
      "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
    const { rows } = await client.query({ text: query, rowMode: 'array' })
    recorder.note('idle-connections', Number(rows[0]?.[0]))
  }
  await client.end()
}
