import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Batch } from '../engine.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { StoreHome } from '../store-home.ts'
import { deletionPrefix } from '../vault/deletion-record.ts'
import { gc } from './gc.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const VAULTS = 12

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Counts the journals that are pruned, and the commits that do so. */
class CountingEngine extends MemoryEngine {
  prunedJournals = 0
  pruningCommits = 0

  override commit(batch: Batch): boolean {
    const { journal = [] } = batch.sweep ?? {}
    this.prunedJournals += journal.length
    if (journal.length > 0) this.pruningCommits++
    return super.commit(batch)
  }

  takeCounts(): { journals: number; commits: number } {
    const counts = { journals: this.prunedJournals, commits: this.pruningCommits }
    this.prunedJournals = 0
    this.pruningCommits = 0
    return counts
  }
}

async function deleteForks(home: StoreHome): Promise<void> {
  for (let vault = 0; vault < VAULTS; vault++) {
    await home.createVault(`fork-${vault}`)
    await home.deleteVault(`fork-${vault}`)
  }
}

describe('a garbage collection after many vaults were deleted', () => {
  it('prunes each journal once, keeps its last row for a month, and then nothing', async () => {
    const engine = new CountingEngine()
    const home = new StoreHome(engine)
    await home.createVault('base')
    await deleteForks(home)
    await gc(home)
    expect(engine.takeCounts()).toEqual({ journals: VAULTS, commits: 1 })
    expect(engine.usage().journal.count).toBe(VAULTS)

    vi.setSystemTime(Date.now() + 29 * DAY_MS)
    await gc(home)
    expect(engine.takeCounts()).toEqual({ journals: 0, commits: 0 })

    vi.setSystemTime(Date.now() + 2 * DAY_MS)
    await gc(home)
    expect(engine.takeCounts()).toEqual({ journals: VAULTS, commits: 1 })
    expect(engine.usage().journal.count).toBe(0)
    expect(engine.listRecords(deletionPrefix)).toEqual([])
  })

  it('keeps the records of the deletions while there is no vault', async () => {
    const engine = new CountingEngine()
    const home = new StoreHome(engine)
    await deleteForks(home)
    vi.setSystemTime(Date.now() + 31 * DAY_MS)
    await gc(home)
    expect(engine.usage().journal.count).toBe(0)
    expect(engine.listRecords(deletionPrefix)).toHaveLength(VAULTS)
    await home.createVault('base')
    await gc(home)
    expect(engine.listRecords(deletionPrefix)).toEqual([])
  })
})
