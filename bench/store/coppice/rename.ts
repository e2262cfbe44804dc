import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMedian } from './median-time.ts'
import { getFilePath, TREE, uniqueName } from './vault-files.ts'
import { openFilledHome } from './vaults.ts'

const TIMES = 21

/** Renames the directory that holds all files of a vault, there and back. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await using home = await openFilledHome(recorder, settings)
  const vault = await home.fork('100k', uniqueName('100k', 'rename'))
  const moved = `/moved${TREE}`
  await vault.mkdir('/moved')
  recorder.progress('rename')
  const seconds = await measureMedian(
    TIMES,
    async (turn) => (turn % 2 === 0 ? [TREE, moved] : [moved, TREE]),
    ([from = '', to = '']) => vault.rename(from, to),
  )
  // An odd number of turns ends there.
  await vault.stat(getFilePath(0).replace(TREE, moved))
  recorder.note('rename', seconds)
}
