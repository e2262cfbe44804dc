import { open } from 'node:fs/promises'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { median } from '../../harness/statistics.ts'

const TIMES = 101
const BYTES = 16 * 1024

/** Measures an fsync of a few bytes: the minimum for any synced commit. */
export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  recorder.progress('sync')
  await using file = await open(`${directory}/synced-${process.pid}`, 'w')
  const bytes = new Uint8Array(BYTES).fill(1)
  const seconds: number[] = []
  for (let turn = 0; turn < TIMES; turn++) {
    const startedAt = performance.now()
    await file.write(bytes)
    await file.datasync()
    seconds.push((performance.now() - startedAt) / 1000)
  }
  recorder.note('sync', median(seconds))
}
