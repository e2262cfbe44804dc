import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { bytesOnDisk } from '../coppice/homes.ts'
import { chooseScale } from '../scale.ts'
import { BareRows } from './rows.ts'

const BLOCK_BYTES = 4096
const CHUNK_BYTES = 32 * 1024

/** A chunk of 32 KiB as a row for each block that is overwritten. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { overwrites } = chooseScale(settings)
  const directory = `${settings.directory}/chunk-rows-${process.pid}`
  await mkdir(directory)
  const chunk = randomBytes(CHUNK_BYTES)
  recorder.progress('overwrite')
  const rows = new BareRows(`${directory}/rows.db`)
  const startedAt = performance.now()
  for (let done = 0; done < overwrites; done++) {
    chunk.writeUInt32LE(done, (done % (CHUNK_BYTES / BLOCK_BYTES)) * BLOCK_BYTES)
    rows.commit('overwrite', '/large.bin', chunk)
  }
  recorder.note('overwrite', (performance.now() - startedAt) / 1000 / overwrites)
  rows[Symbol.dispose]()
  recorder.note('overwrite-growth', (await bytesOnDisk(directory)) / (overwrites * BLOCK_BYTES))
}
