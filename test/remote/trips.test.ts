import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { Home, type Vault } from '../../src/backends/vault/index.ts'
import { DelayedEngine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { readFile } from '../../src/vfs/index.ts'
import { tapEngine } from '../support/tap-engine.ts'

const engine = new MemoryEngine()
const DEEP = '/dir-3/sub-50/deep/file-3.txt'

/** 11,000 files: a thousand deep directories of ten, and a wide one of a thousand. */
beforeAll(async () => {
  const home = new Home(new StoreHome(engine))
  const vault = await home.createVault('base')
  await vault.write('/README.md', Buffer.alloc(100_000, 'read me'))
  for (let file = 0; file < 10_000; file++) {
    const directory = `/dir-${Math.floor(file / 1000)}/sub-${Math.floor(file / 10) % 100}/deep`
    await vault.write(`${directory}/file-${file % 10}.txt`, `content of ${file}\n`)
  }
  for (let file = 0; file < 1000; file++) await vault.write(`/wide/file-${file}`, 'x')
  await vault.checkpoint('stored')
})

/** A home on a remote engine, whose cache is empty, and the number of its trips so far. */
class FarHome {
  trips = 0
  readonly home: Home

  constructor() {
    const before = (call: string) => {
      if (call !== 'changeCount') this.trips++
    }
    this.home = new Home(
      new StoreHome(tapEngine(new DelayedEngine(engine, { isNotified: true }), { before })),
    )
  }

  /** Opens the vault; what that reads ahead has arrived. */
  async open(): Promise<Vault> {
    const vault = await this.home.vault('base')
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    return vault
  }
}

interface Row {
  readonly work: string
  readonly atMost: number
  /** Work whose trips do not count. */
  readonly first?: (vault: Vault, home: Home) => Promise<unknown>
  readonly run: (vault: Vault, home: Home) => Promise<unknown>
}

const rows: readonly Row[] = [
  { work: 'stat, depth 4', atMost: 3, run: (vault) => vault.stat(DEEP) },
  { work: 'stat, warm', atMost: 0, first: (vault) => vault.stat(DEEP), run: (vault) => vault.stat(DEEP) },
  { work: 'readdir of 1,000', atMost: 3, run: (vault) => Array.fromAsync(vault.readdir('/wide')) },
  { work: 'walk of 11,000 files', atMost: 30, run: (vault) => Array.fromAsync(vault.walk('/')) },
  {
    work: '100 stats at once',
    atMost: 8,
    run: (vault) =>
      Promise.all(Array.from({ length: 100 }, (_, sub) => vault.stat(`/dir-3/sub-${sub}/deep/file-3.txt`))),
  },
  { work: 'read of 100 KB', atMost: 2, run: (vault) => readFile(vault, '/README.md') },
  {
    work: 'small write',
    atMost: 1,
    first: (vault) => vault.stat(DEEP),
    run: (vault) => vault.write(DEEP, 'changed\n'),
  },
  {
    work: 'fork',
    atMost: 2,
    // The first change of a process reserves ids for many.
    first: (_, home) => home.fork('base', 'first'),
    run: (_, home) => home.fork('base', 'second'),
  },
  { work: 'checkpoint', atMost: 2, run: (vault) => vault.checkpoint('now') },
]

describe('trips to a remote engine', () => {
  it('open a vault: at most 2', async () => {
    const far = new FarHome()
    await far.home.vault('base')
    expect(far.trips).toBeLessThanOrEqual(2)
  })

  it.each(rows)('$work: at most $atMost', async ({ atMost, first, run }) => {
    const far = new FarHome()
    const vault = await far.open()
    await first?.(vault, far.home)
    far.trips = 0
    await run(vault, far.home)
    expect(far.trips).toBeLessThanOrEqual(atMost)
  })

  it('a change by another home is seen by the next read', async () => {
    const vault = await new FarHome().open()
    await vault.stat(DEEP)
    const other = await new FarHome().open()
    await other.write('/wide/news', 'from elsewhere')
    expect(await vault.exists('/wide/news')).toBe(true)
  })
})
