import { readText } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { openBenchHome } from './homes.ts'
import { createFileContent, getFilePath } from './vault-files.ts'
import { prepareHome } from './vaults.ts'

const FILE = 321

/** The first thing a process does: open the home, its largest vault, and read a file. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const path = await prepareHome(recorder, settings)
  const startedAt = performance.now()
  await using home = await openBenchHome(settings, path)
  const vault = await home.vault('1m')
  const text = await readText(vault, getFilePath(FILE))
  recorder.note('open', (performance.now() - startedAt) / 1000)
  if (text !== createFileContent(FILE)) throw new Error(`the first file has '${text}'`)
}
