import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import { type Engine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { engineNames, openPlace } from '../support/engines.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { tapEngine } from '../support/tap-engine.ts'

const LEVELS = 3000
const ENTRIES = scaled(100_000, 1_000_000)
const AT_ONCE = 5000

const scratch = mkdtempSync(join(tmpdir(), 'coppice-extremes-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const HOSTILE_NAMES = [
  '%',
  '_',
  '100%_',
  "it's",
  '"quoted"',
  '`id`',
  '$(id)',
  'a\nb',
  'tab\there',
  'back\\slash',
  ' leading',
  'trailing ',
  '-rf',
  '*',
  '[a]',
  '?',
  '...',
  '🌲🌳',
  'README',
  'readme',
  'Readme',
  'caf\u00e9',
  'cafe\u0301',
  '\u200bzero width',
  '\u202eright to left',
  '中文',
  'x'.repeat(255),
  '🌲'.repeat(63),
]

describe('a vault holds', () => {
  it(`a tree ${LEVELS} levels deep`, { timeout: PATIENCE_MS }, async () => {
    await using home = new Home(new StoreHome(new MemoryEngine()))
    const vault = await home.createVault('base')
    const deepest = `${'/d'.repeat(LEVELS)}/file`
    await vault.write(deepest, 'down here')
    expect(await readText(vault, deepest)).toBe('down here')
    await vault.checkpoint('deep')
    expect((await Array.fromAsync(vault.walk('/', { includeDirs: true }))).length).toBe(LEVELS + 1)
    const task = await home.fork('base', 'task')
    await task.write(deepest, 'changed')
    await task.rename('/d/d', '/moved')
    expect((await Array.fromAsync(task.diff())).length).toBeGreaterThan(0)
    await home.merge('task', 'base')
    expect(await readText(vault, `/moved${deepest.slice('/d/d'.length)}`)).toBe('changed')
    expect((await home.fsck()).damaged).toEqual([])
    await vault.remove('/moved', { recursive: true })
    expect(await Array.fromAsync(vault.walk('/'))).toEqual([])
    await vault.restore('deep')
    expect(await readText(vault, deepest)).toBe('down here')
  })

  it.each(engineNames)('names of any kind, on %s', async (engine) => {
    const place = { path: join(scratch, engine), engine }
    const first = await openPlace(place)
    const vault = await first.home.createVault('base')
    const paths = HOSTILE_NAMES.flatMap((name) => [`/${name}`, `/dir ${name.slice(0, 40)}/${name}`])
    for (const path of paths) await vault.write(path, path)
    await vault.checkpoint('names')
    await first.home.close()
    await using home = (await openPlace(place)).home
    const again = await home.vault('base')
    for (const path of paths) expect(await readText(again, path)).toBe(path)
    const walked = (await Array.fromAsync(again.walk('/'))).map(({ path }) => path)
    expect(walked.toSorted()).toEqual(paths.toSorted())
    const listed = (await Array.fromAsync(again.readdir('/'))).map(({ name }) => name)
    expect(listed).toEqual(listed.toSorted())
    for (const name of HOSTILE_NAMES) await again.rename(`/${name}`, `/moved/${name}`)
    for (const name of HOSTILE_NAMES) await again.remove(`/moved/${name}`)
    expect(await Array.fromAsync(again.readdir('/moved'))).toEqual([])
    expect((await home.fsck()).damaged).toEqual([])
  })
})

interface Cost {
  readonly pagesWritten: number
  readonly bytesWritten: number
  readonly pagesRead: number
}

describe('a directory with ten times the entries', () => {
  it('costs ten times the pages to fill and to list, and no more to look into', {
    timeout: PATIENCE_MS,
  }, async () => {
    const [small, large] = [await costsOf(ENTRIES / 10), await costsOf(ENTRIES)]
    for (const work of ['fill', 'list'] as const) {
      const ratios = ratiosOf(small[work], large[work])
      for (const ratio of ratios) expect(ratio, work).toBeLessThan(15)
    }
    // One level of the tree more, and the odd page beside it.
    for (const work of ['look', 'add', 'remove', 'fork'] as const) {
      expect(large[work].pagesRead, work).toBeLessThanOrEqual(small[work].pagesRead + 8)
      expect(large[work].pagesWritten, work).toBeLessThanOrEqual(small[work].pagesWritten + 8)
    }
  })
})

type Work = 'fill' | 'list' | 'look' | 'add' | 'remove' | 'fork'

/** What each work on a directory of so many entries asks of the engine, with a home that has nothing cached. */
async function costsOf(entries: number): Promise<Record<Work, Cost>> {
  const memory = new MemoryEngine()
  await new Home(new StoreHome(memory)).createVault('base')
  const last = `/big/f${entries - 1}`
  return {
    fill: await costOf(memory, async (home) => {
      const vault = await home.vault('base')
      for (let start = 0; start < entries; start += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, (_, index) =>
          vault.write(`/big/f${start + index}`, 'x'),
        )
        await Promise.all(batch)
      }
    }),
    list: await costOf(memory, async (home) => {
      let count = 0
      for await (const _ of (await home.vault('base')).readdir('/big')) count++
      expect(count).toBe(entries)
    }),
    look: await costOf(memory, async (home) => {
      expect(await readText(await home.vault('base'), last)).toBe('x')
    }),
    add: await costOf(memory, async (home) => (await home.vault('base')).write('/big/new', 'y')),
    remove: await costOf(memory, async (home) => (await home.vault('base')).remove('/big/new')),
    fork: await costOf(memory, async (home) => {
      await home.fork('base', 'task')
    }),
  }
}

/** Counts what a home asks of its engine from its opening to its close, with everything folded. */
async function costOf(engine: Engine, work: (home: Home) => Promise<void>): Promise<Cost> {
  const cost = { pagesWritten: 0, bytesWritten: 0, pagesRead: 0 }
  const tapped = tapEngine(engine, {
    before: (call, [batch]) => {
      if (call === 'readPage') cost.pagesRead++
      if (call !== 'commit' || typeof batch !== 'object' || batch === null || !('pages' in batch)) return
      for (const page of Array.isArray(batch.pages) ? batch.pages : []) {
        cost.pagesWritten++
        cost.bytesWritten += page.bytes.length
      }
    },
  })
  const home = new Home(new StoreHome(tapped))
  await work(home)
  await home.close()
  return cost
}

function ratiosOf(small: Cost, large: Cost): number[] {
  const written = ['pagesWritten', 'bytesWritten'] as const
  // What the small one has in its cache entirely, the large one reads again: that is measured by what was written.
  const read = large.pagesRead / Math.max(100, small.pagesRead, small.pagesWritten)
  return [...written.map((key) => large[key] / Math.max(100, small[key])), read]
}
