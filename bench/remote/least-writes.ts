import { randomBytes } from 'node:crypto'
import { PostgresEngine } from '../../src/store/index.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { countOperations, SMALL_BYTES } from './sizes.ts'

/** Commits journal rows by the function of the engine, without a vault: the limit of its guarantees. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { commits } = countOperations(settings)
  await using server = await PostgresServer.start({ fsync: true })
  const durabilities = { commit: 'full', 'commit-process': 'process' } as const
  for (const [work, durability] of Object.entries(durabilities)) {
    await using engine = await PostgresEngine.open({ url: server.url(`least_${durability}`), durability })
    let seq = 0
    for (const round of [new WarmUpRecorder(), recorder])
      await round.record(work, {
        operations: commits,
        expected: commits,
        pass: async () => {
          for (let number = 0; number < commits; number++)
            await engine.commit({ journal: [{ vault: 1, seq: ++seq, bytes: randomBytes(SMALL_BYTES) }] })
          return commits
        },
      })
  }
}
