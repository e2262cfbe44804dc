import { describe, expect, it } from 'vitest'
import { gc } from '../care/gc.ts'
import type { JournalRow } from '../engine.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { forkVault } from '../fork-vault.ts'
import { StoreHome } from '../store-home.ts'
import { landmarkPrefix } from './landmarks.ts'
import { replayJournal } from './replay-journal.ts'
import type { VaultLog } from './vault-log.ts'

/** Counts the journal rows that are read. */
class CountingEngine extends MemoryEngine {
  rows = 0

  override readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const found = super.readJournal(vault, after, limit)
    this.rows += found.length
    return found
  }
}

const ROWS = 12_000
/** Rows between two flushes of a vault that is only written. */
const MOST_REPLAYED = 2000

async function fill(log: VaultLog, from: number, upTo: number): Promise<void> {
  for (let at = from; at <= upTo; at++) {
    const inline = Buffer.from(String(at)).toString('base64')
    const content = { size: String(at).length, inline }
    await log.submit(() => ({ op: 'write', path: `/f${at % 50}`, content, parents: false }))
  }
}

describe('landmarks', () => {
  it('let every moment of a long journal open from a few rows, of its forks too', async () => {
    const engine = new CountingEngine()
    const home = new StoreHome(engine)
    const log = await home.createVault('base')
    await fill(log, 1, ROWS)
    const fork = await forkVault(home, 'base', 'task')
    for (const row of [1, 1999, 2001, 5000, ROWS - 1, ROWS]) {
      for (const each of [log, fork]) {
        engine.rows = 0
        const files = await replayJournal(home, each, row)
        expect(files.getInode(files.findByPath(`/f${row % 50}`) ?? 0).version).toBe(row)
        expect(engine.rows).toBeLessThanOrEqual(MOST_REPLAYED)
      }
    }
    await home.close()
  })

  it('are kept by a collection as long as their rows, and go with them or with the vault', async () => {
    const home = new StoreHome(new MemoryEngine())
    const log = await home.createVault('base')
    await fill(log, 1, ROWS)
    const count = () => home.reader.listRecords(landmarkPrefix).length
    await gc(home)
    expect(count()).toBeGreaterThan(3)
    const files = await replayJournal(home, log, 4500)
    expect(files.getInode(files.findByPath('/f0') ?? 0).version).toBe(4500)
    const { pages } = await gc(home, { keepHistory: new Date(Date.now() + 1000) })
    expect(pages).toBeGreaterThan(0)
    expect(count()).toBeLessThanOrEqual(1)
    await expect(replayJournal(home, log, 4500)).rejects.toMatchObject({ code: 'ENOENT' })
    await fill(log, ROWS + 1, ROWS + 3000)
    expect(count()).toBeGreaterThan(0)
    await home.deleteVault('base')
    expect(count()).toBe(0)
    await home.close()
  })
})
