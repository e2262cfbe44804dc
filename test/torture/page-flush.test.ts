import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import {
  type Batch,
  DelayedEngine,
  type Engine,
  LevelEngine,
  MemoryEngine,
  StoreHome,
} from '../../src/store/index.ts'
import { readText, VfsError } from '../../src/vfs/index.ts'
import { tapEngine } from '../support/tap-engine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-flush-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** How long the journal may grow before pages are flushed, and what may be on its way meanwhile. */
const ROWS_AT_MOST = 2000 + 100

const openDelayed = async (): Promise<Engine> => new DelayedEngine(new MemoryEngine())
const openLevel = (): Promise<Engine> => LevelEngine.open({ directory: mkdtempSync(join(scratch, 'level-')) })

const engines = [
  { name: 'an engine a network away', open: openDelayed, writers: 1 },
  { name: 'an engine a network away', open: openDelayed, writers: 7 },
  // Every commit waits for the disk: many writers share one.
  { name: 'LevelDB', open: openLevel, writers: 30 },
]

/** Counts the flushes an engine is asked for, and the rows of one vault that wait for the next. */
class FlushCounter {
  readonly engine: Engine
  flushes = 0
  atOnce = 0
  rows = 0
  mostAtOnce = 0
  mostRows = 0

  constructor(engine: Engine) {
    this.engine = tapEngine(engine, {
      before: (call, [batch]) => call === 'commit' && this.#begin(batch as Batch),
      after: (call, [batch], answer) => {
        if (call === 'commit') this.#end(batch as Batch)
        return answer
      },
    })
  }

  #begin({ pages = [] }: Batch): void {
    if (pages.length === 0) return
    this.flushes++
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce)
  }

  #end({ pages = [], journal = [] }: Batch): void {
    this.rows += journal.length
    this.mostRows = Math.max(this.mostRows, this.rows)
    if (pages.length === 0) return
    this.atOnce--
    this.rows = 0
  }
}

describe.each(engines)('pages on $name with $writers writers', ({ open, writers }) => {
  it('are flushed one flush at a time while the writers never pause', async () => {
    const counter = new FlushCounter(await open())
    await using home = new Home(new StoreHome(counter.engine))
    const vault = await home.createVault('base')
    const write = async (writer: number) => {
      for (let i = writer; i < 4200; i += writers) await vault.write(`/${writer}/${i % 300}`, `${i}`)
    }
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    expect(counter.mostAtOnce).toBe(1)
    expect(counter.mostRows).toBeLessThan(ROWS_AT_MOST)
    expect(counter.flushes).toBe(3)
    expect(await readText(vault, `/0/${(4200 - writers) % 300}`)).toBe(`${4200 - writers}`)
  })

  it('are flushed for checkpoints, forks and writers that come together, and nothing is lost', async () => {
    const counter = new FlushCounter(await open())
    await using home = new Home(new StoreHome(counter.engine))
    const vault = await home.createVault('base')
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        await vault.append('/log', `${i}\n`)
        await vault.checkpoint(`c${i}`)
        await home.fork('base', `fork-${i}`)
        await vault.append('/log', `${i} again\n`)
      }),
    )
    expect(counter.mostAtOnce).toBe(1)
    expect((await readText(vault, '/log')).trimEnd().split('\n').length).toBe(24)
    for (let i = 0; i < 12; i++) expect(await readText(vault.at(`c${i}`), '/log')).toContain(`${i}\n`)
    expect((await home.fsck()).damaged).toEqual([])
  })
})

describe('a flush that fails', () => {
  it('is not tried again with every commit', async () => {
    let [isFull, tries] = [false, 0]
    const engine = tapEngine(new MemoryEngine(), {
      before: (call, [batch]) => {
        if (call !== 'commit' || !isFull || !(batch as Batch).pages) return
        tries++
        throw new VfsError('ENOSPC', '/', { detail: 'the disk is full' })
      },
    })
    await using home = new Home(new StoreHome(engine))
    const vault = await home.createVault('base')
    isFull = true
    for (let i = 0; i < 2500; i++) await vault.write(`/${i % 300}`, `${i}`)
    isFull = false
    expect(tries).toBeGreaterThan(0)
    expect(tries).toBeLessThan(5)
    expect(await readText(vault, '/99')).toBe('2499')
  })
})
