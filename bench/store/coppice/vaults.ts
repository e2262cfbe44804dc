import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Home } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { runPart } from '../../harness/part-process.ts'
import { openBenchHome } from './homes.ts'

/** Directory of the vaults of all sizes while they are filled. */
export function homeOfVaults({ directory }: Settings): string {
  return `${directory}/vaults.new`
}

/** The directory of a home with a vault of each size, filled on first use and by a process that ends then. */
export async function filledHome(recorder: Recorder, settings: Settings): Promise<string> {
  const path = `${settings.directory}/vaults`
  if (existsSync(path)) return path
  await runPart(new URL('./fill.ts', import.meta.url), {
    settings,
    onMessage(message) {
      if (message.kind === 'measured') recorder.note(message.work, message.value)
      else if (message.kind === 'progress') recorder.progress(message.text)
    },
  })
  await rename(homeOfVaults(settings), path)
  return path
}

/** The home with a vault of each size. Change forks of them only: they serve every part and round. */
export async function openFilledHome(recorder: Recorder, settings: Settings): Promise<Home> {
  return openBenchHome(settings, await filledHome(recorder, settings))
}
