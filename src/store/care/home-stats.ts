import { isVfsError } from '../../vfs/index.ts'
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
  readonly segments: SegmentStats
}

/** Large content outside the engine, as `HomeStats` counts it. */
interface SegmentStats {
  readonly count: number
  readonly bytes: number
  /** Directory or bucket; absent if the engine has all content itself. */
  readonly location?: string
  /** Reason why they cannot be counted, or why this home neither adds nor deletes any. */
  readonly problem?: string
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

async function measureSegments({ engine: { segments } }: StoreHome): Promise<SegmentStats> {
  if (segments === undefined) return { count: 0, bytes: 0 }
  const location = segments.locate('')
  const { readOnlyReason: problem } = segments
  try {
    const listed = await segments.list()
    const bytes = listed.reduce((sum, { size }) => sum + size, 0)
    return { count: listed.length, bytes, location, ...(problem !== undefined && { problem }) }
  } catch (error) {
    if (!isVfsError(error)) throw error
    return { count: 0, bytes: 0, location, problem: error.message }
  }
}
