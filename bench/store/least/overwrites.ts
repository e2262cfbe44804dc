import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { bytesOnDisk } from '../coppice/homes.ts'
import { chooseScale } from '../scale.ts'
import { BareRows } from './rows.ts'

const BLOCK_BYTES = 4096
/** What a delta has besides its bytes. */
const DELTA_HEAD_BYTES = 24

/** A row with a delta for each block that is overwritten. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { overwrites } = chooseScale(settings)
  const directory = `${settings.directory}/delta-rows-${process.pid}`
  await mkdir(directory)
  const delta = randomBytes(DELTA_HEAD_BYTES + BLOCK_BYTES)
  recorder.progress('overwrite')
  const rows = new BareRows(`${directory}/rows.db`)
  const startedAt = performance.now()
  for (let done = 0; done < overwrites; done++) {
    delta.writeUInt32LE(done)
    rows.commit('overwrite', '/large.bin', delta)
  }
  recorder.note('overwrite', (performance.now() - startedAt) / 1000 / overwrites)
  rows[Symbol.dispose]()
  recorder.note('overwrite-growth', (await bytesOnDisk(directory)) / (overwrites * BLOCK_BYTES))
}
