import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Home, type Vault } from '../src/backends/vault/index.ts'
import { type Engine, MemoryEngine, StoreHome } from '../src/store/index.ts'
import { engineNames, openPlace } from './support/engines.ts'
import { everySharedEngine, useSharedPlaces } from './support/shared-places.ts'
import { type EngineCall, tapEngine } from './support/tap-engine.ts'

const BIG = 'the content of a blob of its own. '.repeat(3000)
const MONTHS_MS = 90 * 24 * 60 * 60 * 1000

const placeOn = useSharedPlaces()
let path: string

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'coppice-fsck-gc-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(path, { recursive: true, force: true })
})

async function fill(vault: Vault): Promise<void> {
  const files = Array.from({ length: 300 }, (_, file) => file)
  await Promise.all(files.map((file) => vault.write(`/file-${file}`, `${file} `.repeat(50))))
  await vault.write('/big', `old ${BIG}`)
  await vault.write('/big', BIG)
  await vault.close()
}

/** A home on an engine whose first call of a kind, once armed, waits until other work is done. */
class WaitingHome {
  readonly home: Home
  #armed: { readonly call: EngineCall; readonly work: () => Promise<void> } | undefined

  constructor(engine: Engine) {
    const after = (call: EngineCall, _args: readonly unknown[], answer: unknown) => {
      if (this.#armed?.call !== call) return answer
      const { work } = this.#armed
      this.#armed = undefined
      return work().then(() => answer)
    }
    this.home = new Home(new StoreHome(tapEngine(engine, { after })))
  }

  arm(call: EngineCall, work: () => Promise<void>): void {
    this.#armed = { call, work }
  }

  get hasWaited(): boolean {
    return this.#armed === undefined
  }
}

describe.each(everySharedEngine)('beside a collection through another home on %s', (engine) => {
  async function twoHomes(): Promise<{ reader: WaitingHome; other: Home; close: () => Promise<void> }> {
    const place = placeOn(engine, path)
    const [one, two] = [await openPlace(place), await openPlace(place)]
    await fill(await two.home.createVault('base'))
    await fill(await two.home.createVault('kept'))
    const reader = new WaitingHome(one.engine)
    const close = async () => {
      await two.home.close()
      await reader.home.close()
      await one.home.close()
    }
    return { reader, other: two.home, close }
  }

  it.each([
    ['fsck', 'readPage'],
    ['stats', 'usage'],
    ['usage', 'readPage'],
  ] as const)('%s holds the trees it reads until it is done', async (name, call) => {
    const { reader, other, close } = await twoHomes()
    const kept = await reader.home.vault('kept')
    const swept: number[] = []
    reader.arm(call, async () => {
      await other.deleteVault('base')
      swept.push((await other.gc()).pages)
    })
    const works = {
      fsck: async () => expect((await reader.home.fsck()).damaged).toEqual([]),
      stats: async () => expect((await reader.home.stats()).files).toBe(602),
      usage: async () => expect((await kept.quota.usage()).files).toBe(301),
    }
    await works[name]()
    expect(reader.hasWaited).toBe(true)
    await reader.home.close()
    const later = await other.gc()
    expect(later.pages).toBeGreaterThan((swept[0] ?? Number.POSITIVE_INFINITY) + 1)
    await close()
  })

  it('fsck takes an old version that goes with its vault for no damage', async () => {
    const { reader, other, close } = await twoHomes()
    // The rows of the journal are read before the blobs that they name.
    reader.arm('readJournal', async () => {
      await other.deleteVault('base')
      expect((await other.gc()).blobs).toBeGreaterThan(0)
    })
    expect((await reader.home.fsck()).damaged).toEqual([])
    expect(reader.hasWaited).toBe(true)
    await close()
  })
})

describe.each([...engineNames, 'memory'] as const)('after every vault was deleted, on %s', (engine) => {
  async function open(): Promise<Home> {
    return engine === 'memory'
      ? new Home(new StoreHome(new MemoryEngine()))
      : (await openPlace({ path, engine })).home
  }

  async function emptied(): Promise<Home> {
    const home = await open()
    const vault = await home.createVault('base')
    await fill(vault)
    await vault.checkpoint('then')
    await fill(await home.fork('base', 'fork'))
    await home.merge('fork', 'base')
    for (const name of await home.vaults()) await home.deleteVault(name)
    return home
  }

  it('fsck finds nothing before, between and after collections', async () => {
    await using home = await emptied()
    expect((await home.fsck()).damaged).toEqual([])
    for (let round = 0; round < 2; round++) {
      await home.gc()
      expect(await home.fsck()).toEqual({ checked: 0, damaged: [], orphanedSegments: [] })
    }
  })

  it('fsck finds nothing in what a collection long after leaves behind', async () => {
    await using home = await emptied()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MONTHS_MS })
    // It ends between the journals and the pages.
    await expect(home.gc({ signal: AbortSignal.abort() })).rejects.toThrow()
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('fsck finds nothing in a stream that is coming in', async () => {
    await using source = new Home(new StoreHome(new MemoryEngine()))
    const sent = await source.createVault('base')
    // More than waits in memory until the vault is there.
    await sent.write('/large', randomBytes(12 * 1024 * 1024))
    await sent.checkpoint('sent')
    await using home = await open()
    const found: unknown[] = []
    let pieces = 0
    async function* stream(): AsyncGenerator<Uint8Array> {
      for await (const piece of source.send('base')) {
        yield piece
        if (pieces++ % 32 === 0) found.push((await home.fsck()).damaged)
      }
    }
    await home.receive(stream())
    expect(found.length).toBeGreaterThan(1)
    expect(found.flat()).toEqual([])
  })
})
