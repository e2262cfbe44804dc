import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { MACHINES, measureMachines } from './machines.ts'
import { countOperations } from './sizes.ts'

/** Bare inserts of one machine, then of several, each into a table of its own. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await using server = await PostgresServer.start({ fsync: true })
  await measureMachines(recorder, ['machine', 'machines'], {
    program: new URL('./pg-machine-process.ts', import.meta.url),
    args: Array.from({ length: MACHINES }, (_, number) => [server.directory, `rows_${number}`]),
    commits: countOperations(settings).commits,
  })
}
