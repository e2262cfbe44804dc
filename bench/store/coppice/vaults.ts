import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Home } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { runPart } from '../../harness/part-process.ts'
import { openBenchHome } from './homes.ts'

/** Returns the directory of the home while its vaults are filled. */
export function getHomePath({ directory }: Settings): string {
  return `${directory}/vaults.new`
}

/** Returns the directory of a home with a vault of each size. The first call fills it, in a process that ends then. */
export async function prepareHome(recorder: Recorder, settings: Settings): Promise<string> {
  const path = `${settings.directory}/vaults`
  if (existsSync(path)) return path
  await runPart(new URL('./fill.ts', import.meta.url), {
    settings,
    onMessage(message) {
      if (message.kind === 'measured') recorder.note(message.work, message.value)
      else if (message.kind === 'progress') recorder.progress(message.text)
    },
  })
  await rename(getHomePath(settings), path)
  return path
}

/** Opens the home with a vault of each size. Change only forks of them: every part and round uses them. */
export async function openFilledHome(recorder: Recorder, settings: Settings): Promise<Home> {
  return openBenchHome(settings, await prepareHome(recorder, settings))
}
