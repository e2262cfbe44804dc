import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { S3Fs } from '../../../src/backends/s3/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const SERVER = fileURLToPath(new URL('../../../test/support/s3-listing-server.ts', import.meta.url))

/** Lists keys that another process makes up, so that only our memory is measured. */
export async function measure(recorder: Recorder, { isQuick }: Settings): Promise<void> {
  const count = isQuick ? 5000 : 100_000
  const server = spawn(process.execPath, [SERVER, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = await once(server.stdout, 'data')
    await using fs = new S3Fs({
      bucket: 'bucket',
      client: {
        endpoint: String(line).trim(),
        region: 'us-east-1',
        forcePathStyle: true,
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      },
    })
    recorder.note('s3-memory', await measurePeakMemory(fs))
    await recorder.record('s3-walk', {
      operations: count,
      expected: count,
      pass: async () => await countEntries(fs),
    })
  } finally {
    server.kill()
  }
}

/** Returns the largest growth of resident memory during a listing, after a first request has loaded the SDK. */
async function measurePeakMemory(fs: S3Fs): Promise<number> {
  for await (const _ of fs.readdir('/')) break
  const before = readResidentMemory()
  let most = before
  const look = () => {
    most = Math.max(most, readResidentMemory())
  }
  await countEntries(fs, look)
  let count = 0
  for await (const _ of fs.readdir('/flat')) if (count++ % 5000 === 0) look()
  return most - before
}

async function countEntries(fs: S3Fs, look: () => void = () => {}): Promise<number> {
  let count = 0
  for await (const _ of fs.walk('/')) if (count++ % 5000 === 0) look()
  return count
}

function readResidentMemory(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}
