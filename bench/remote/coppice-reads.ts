import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../../src/backends/vault/index.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { runInFlight } from './sizes.ts'
import { openSlowHome } from './slow-home.ts'

const FILES_PER_DIRECTORY = 100
const STATS = 5000

/** Reads: warm stats beside a local home, a cold walk on a slow network, and the trips of a fork. */
export async function measure(recorder: Recorder, { isQuick, directory }: Settings): Promise<void> {
  const files = isQuick ? 1000 : 10_000
  await using server = await PostgresServer.start()
  const url = server.url('bench')
  await using home = await openHome({ url })
  await using local = await openHome({ path: mkdtempSync(join(directory, 'local-')) })
  for (const [work, each] of [['stat', home] as const, ['stat-local', local] as const]) {
    const vault = await each.createVault('base')
    const write = (number: number) => vault.write(getPath(number), String(number))
    await runInFlight(work === 'stat' ? files : FILES_PER_DIRECTORY, write)
    await vault.stat(getPath(0))
    await recorder.record(work, {
      operations: STATS,
      expected: STATS,
      pass: async () => {
        let count = 0
        while (count < STATS) {
          await vault.stat(getPath(count % FILES_PER_DIRECTORY))
          count++
        }
        return count
      },
    })
  }
  await (await home.vault('base')).close()
  await recorder.record('walk', {
    operations: 1,
    expected: files,
    pass: async () => {
      await using slow = await openSlowHome(url)
      let found = 0
      for await (const { stat } of (await slow.home.vault('base')).walk('/'))
        if (stat.type === 'file') found++
      return found
    },
  })
  await using counted = await openSlowHome(url)
  // The first change of a process reserves ids for many.
  await counted.home.fork('base', 'first')
  const before = counted.calls()
  await counted.home.fork('base', 'second')
  recorder.note('fork-trips', counted.calls() - before)
}

function getPath(number: number): string {
  return `/${Math.floor(number / FILES_PER_DIRECTORY)}/${number}`
}
