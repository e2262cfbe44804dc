import { openHome } from '../../src/backends/vault/index.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import { S3Server } from '../../test/support/s3-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { generateDistinctChunks } from '../store/chunks.ts'
import { countStreamBytes, MIB } from './sizes.ts'

const CHUNK_BYTES = 64 * 1024

/** Streams a large file into a vault whose large content is in S3, and back. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const size = countStreamBytes(settings)
  await using database = await PostgresServer.start({ fsync: true })
  await using s3 = await S3Server.s3rver()
  const client = s3.client()
  const bucket = await s3.bucket(client)
  await using home = await openHome({ url: database.url('bench'), objects: { bucket, client } })
  const vault = await home.createVault('base')
  let passes = 0
  await recorder.record('s3-in', {
    operations: size / MIB,
    expected: size,
    pass: async () => {
      await vault.write(`/${++passes}`, toStream(generateDistinctChunks(size, CHUNK_BYTES)))
      return Number((await vault.stat(`/${passes}`)).size)
    },
  })
  await recorder.record('s3-out', {
    operations: size / MIB,
    expected: size,
    pass: async () => {
      let bytes = 0
      for await (const chunk of vault.read(`/${passes}`, { chunkSize: CHUNK_BYTES })) bytes += chunk.length
      return bytes
    },
  })
}

async function* toStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}
