import type { EngineUsage } from '../engine.ts'
import type { StoreHome } from '../home.ts'
import { rootsOf } from './roots.ts'

/** What a home holds: each vault's files count whole, though most of what they share is stored once. */
export interface HomeStats extends EngineUsage {
  readonly engine: string
  readonly vaults: number
  readonly checkpoints: number
  readonly files: number
  /** The sum of the sizes of all files of all vaults. */
  readonly fileBytes: number
}

export async function stats(home: StoreHome): Promise<HomeStats> {
  await home.foldAll()
  return home.holding((hold) => countHeld(home, hold))
}

async function countHeld(home: StoreHome, hold: (root: number) => number): Promise<HomeStats> {
  const { heads } = await rootsOf(home)
  for (const { root } of heads) hold(root)
  const usage = await home.engine.usage()
  const checkpoints = await home.reader.resolve(() => home.reader.records('checkpoint/').length)
  let [files, fileBytes] = [0, 0]
  for (const { root } of heads) {
    const counters = await home.reader.resolve(() => home.filesAt(root).counters())
    files += counters.files
    fileBytes += counters.bytes
  }
  return { engine: home.engine.name, vaults: heads.length, checkpoints, files, fileBytes, ...usage }
}
