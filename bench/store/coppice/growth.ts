import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { chooseScale } from '../scale.ts'
import { bytesOnDisk, openBenchHome } from './homes.ts'
import { getFilePath, spreadIndexes, uniqueName } from './vault-files.ts'
import { prepareHome } from './vaults.ts'

const FORKS = 100
const CHANGES = 10

/** Measures the bytes that a hundred forks with a few changes each add to a closed home. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = chooseScale(settings).vaultFiles['100k']
  const path = await prepareHome(recorder, settings)
  // Whoever opens a home may still have something to tidy up.
  await (await openBenchHome(settings, path)).close()
  const before = await bytesOnDisk(path)
  recorder.progress('growth')
  const home = await openBenchHome(settings, path)
  for (let fork = 0; fork < FORKS; fork++) {
    const vault = await home.fork('100k', uniqueName('100k', 'growth'))
    for (const index of spreadIndexes(CHANGES, files, fork * 7))
      await vault.write(getFilePath(index), `changed by ${fork}`)
  }
  await home.close()
  recorder.note('growth', (await bytesOnDisk(path)) - before)
}
