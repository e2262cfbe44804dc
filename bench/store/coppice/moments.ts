import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMedian } from './median-time.ts'
import { openFilledHome } from './vaults.ts'

const TIMES = 51
/** Steps by this share of the journal hit rows all over it, in no order. */
const GOLDEN = 0.618

/** Opens a vault of 100,000 rows as it was after one of them, and lists its root. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await using home = await openFilledHome(recorder, settings)
  const vault = await home.vault('100k')
  const last = await vault.getLastRow()
  recorder.progress('moments')
  const seconds = await measureMedian(
    TIMES,
    async (turn) => 1 + Math.floor((((turn + 1) * GOLDEN) % 1) * last),
    async (row) => Array.fromAsync((await vault.openMoment({ row })).readdir('/')),
  )
  recorder.note('moment', seconds)
}
