import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { chooseScale } from '../scale.ts'
import { openFilledHome } from './vaults.ts'

/** A walk over the largest vault, and the most memory this process ever had. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = chooseScale(settings).vaultFiles['1m']
  await using home = await openFilledHome(recorder, settings)
  const vault = await home.vault('1m')
  await recorder.record('walk', {
    operations: files,
    expected: files,
    async pass() {
      let found = 0
      for await (const { stat } of vault.walk('/')) if (stat.size > 0) found++
      return found
    },
  })
  recorder.note('walk-memory', process.resourceUsage().maxRSS * 1024)
}
