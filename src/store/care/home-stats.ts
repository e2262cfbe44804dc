import type { EngineUsage } from '../engine.ts'
import type { StoreHome } from '../store-home.ts'
import { readRoots } from './gc-roots.ts'

/** Totals of a home: each vault's files count in full, though shared content is stored once. */
export interface HomeStats extends EngineUsage {
  readonly engine: string
  readonly vaults: number
  readonly checkpoints: number
  readonly files: number
  /** Sum of the sizes of all files of all vaults. */
  readonly fileBytes: number
}

export async function getHomeStats(home: StoreHome): Promise<HomeStats> {
  await home.flushAllPages()
  return home.session.withHolds((hold) => countWithHolds(home, hold))
}

async function countWithHolds(home: StoreHome, hold: (root: number) => number): Promise<HomeStats> {
  const { heads } = await readRoots(home)
  for (const { root } of heads) hold(root)
  const usage = await home.engine.usage()
  const checkpoints = await home.reader.run(() => home.reader.listRecords('checkpoint/').length)
  let [files, fileBytes] = [0, 0]
  for (const { root } of heads) {
    const counters = await home.reader.run(() => home.trees.getFilesAt(root).getCounters())
    files += counters.files
    fileBytes += counters.bytes
  }
  return { engine: home.engine.name, vaults: heads.length, checkpoints, files, fileBytes, ...usage }
}
