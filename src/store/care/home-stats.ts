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
  /** Files or objects with large content, which the total includes. */
  readonly segments: { readonly count: number; readonly bytes: number }
}

/** Counts everything in a home, after a flush of its pages. */
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
  const segments = await measureSegments(home)
  const totals = { ...usage, segments, totalBytes: usage.totalBytes + segments.bytes }
  return { engine: home.engine.name, vaults: heads.length, checkpoints, files, fileBytes, ...totals }
}

async function measureSegments({ engine }: StoreHome): Promise<{ count: number; bytes: number }> {
  const listed = (await engine.segments?.list()) ?? []
  return { count: listed.length, bytes: listed.reduce((sum, { size }) => sum + size, 0) }
}
