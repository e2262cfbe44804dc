import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { CONTENT_BYTES, countOperations, runInFlight, SMALL_BYTES } from './sizes.ts'

const CONNECTIONS = 6

/** Inserts rows, one after the other on one connection and many at once on several. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { commits, files } = countOperations(settings)
  await using server = await PostgresServer.start({ fsync: true })
  const address = { host: server.directory, user: 'coppice', database: 'postgres' }
  const client = new pg.Client(address)
  await client.connect()
  const pool = new pg.Pool({ ...address, max: CONNECTIONS })
  await client.query('create table rows (id bigint primary key, bytes bytea)')
  let id = 0
  const insert = (bytes: number) => ({
    name: 'insert',
    text: 'insert into rows values ($1, $2)',
    values: [++id, randomBytes(bytes)],
  })
  const sizes = { commit: SMALL_BYTES, content: CONTENT_BYTES }
  for (const round of [new WarmUpRecorder(), recorder]) {
    for (const [work, bytes] of Object.entries(sizes)) {
      await round.record(work, {
        operations: commits,
        expected: commits,
        pass: async () => {
          for (let number = 0; number < commits; number++) await client.query(insert(bytes))
          return commits
        },
      })
    }
    await client.query('set synchronous_commit = off')
    await round.record('commit-process', {
      operations: commits,
      expected: commits,
      pass: async () => {
        for (let number = 0; number < commits; number++) await client.query(insert(SMALL_BYTES))
        return commits
      },
    })
    await client.query('set synchronous_commit = on')
    await round.record('files', {
      operations: files,
      expected: files,
      pass: () => runInFlight(files, () => pool.query(insert(CONTENT_BYTES))),
    })
  }
  await client.end()
  await pool.end()
}
