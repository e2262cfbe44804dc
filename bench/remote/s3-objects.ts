import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { S3Server } from '../../test/support/s3-server.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { generateDistinctChunks } from '../store/chunks.ts'
import { countStreamBytes, MIB } from './sizes.ts'

const OBJECT_BYTES = 8 * MIB
const IN_FLIGHT = 4

/** The same bytes through the client alone: objects of 8 MiB, four in flight in, one after the other back. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const size = countStreamBytes(settings)
  await using s3 = await S3Server.s3rver()
  const client = s3.client()
  const Bucket = await s3.bucket(client)
  const count = Math.ceil(size / OBJECT_BYTES)
  await recorder.record('s3-in', {
    operations: size / MIB,
    expected: size,
    pass: async () => {
      const objects = generateDistinctChunks(size, OBJECT_BYTES)
      let [number, bytes] = [0, 0]
      const put = async () => {
        for (const Body of objects) {
          bytes += Body.length
          await client.send(new PutObjectCommand({ Bucket, Key: String(number++), Body }))
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, put))
      return bytes
    },
  })
  await recorder.record('s3-out', {
    operations: size / MIB,
    expected: size,
    pass: async () => {
      let bytes = 0
      for (let number = 0; number < count; number++) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: String(number) }))
        bytes += (await Body?.transformToByteArray())?.length ?? 0
      }
      return bytes
    },
  })
}
