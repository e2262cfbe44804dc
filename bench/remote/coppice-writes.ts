import { randomBytes } from 'node:crypto'
import { openHome } from '../../src/backends/vault/index.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { CONTENT_BYTES, countOperations, runInFlight, SMALL_BYTES } from './sizes.ts'

/** Writes new files into a vault, one after the other and many at once. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { commits, files } = countOperations(settings)
  await using server = await PostgresServer.start({ fsync: true })
  await using home = await openHome({ url: server.url('bench') })
  const vault = await home.createVault('base')
  let passes = 0
  const write = (number: number, bytes: number) =>
    vault.write(`/pass-${passes}/${number % 100}/${number}`, randomBytes(bytes))
  const sizes = { commit: SMALL_BYTES, content: CONTENT_BYTES }
  await using relaxed = await openHome({ url: server.url('relaxed'), durability: 'process' })
  const other = await relaxed.createVault('base')
  for (const round of [new WarmUpRecorder(), recorder]) {
    for (const [work, bytes] of Object.entries(sizes)) {
      await round.record(work, {
        operations: commits,
        expected: commits,
        pass: async () => {
          passes++
          for (let number = 0; number < commits; number++) await write(number, bytes)
          return commits
        },
      })
    }
    await round.record('commit-process', {
      operations: commits,
      expected: commits,
      pass: async () => {
        passes++
        for (let number = 0; number < commits; number++)
          await other.write(`/pass-${passes}/${number % 100}/${number}`, randomBytes(SMALL_BYTES))
        return commits
      },
    })
    await round.record('files', {
      operations: files,
      expected: files,
      pass: () => {
        passes++
        return runInFlight(files, (number) => write(number, CONTENT_BYTES))
      },
    })
  }
}
