import { readText } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { openBenchHome } from './homes.ts'
import { contentOf, pathOf } from './vault-files.ts'
import { filledHome } from './vaults.ts'

const FILE = 321

/** The first thing a process does: open the home, its largest vault, and read a file. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const path = await filledHome(recorder, settings)
  const startedAt = performance.now()
  await using home = await openBenchHome(settings, path)
  const vault = await home.vault('1m')
  const text = await readText(vault, pathOf(FILE))
  recorder.note('open', (performance.now() - startedAt) / 1000)
  if (text !== contentOf(FILE)) throw new Error(`the first file has '${text}'`)
}
