import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Batch, MemoryEngine } from '../../store/index.ts'
import { type PathChange, VfsError } from '../../vfs/index.ts'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-watch-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

/** Takes no pages while it is full; the journal still has room. */
class FullEngine extends MemoryEngine {
  isFull = false

  override commit(batch: Batch): boolean {
    if (this.isFull && (batch.pages?.length ?? 0) > 0) throw new VfsError('ENOSPC', '/', { op: 'commit' })
    return super.commit(batch)
  }
}

describe('a watch', () => {
  it('yields changes at or below its path, by any home', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    await mine.write('/d/old', 'x')
    const seen: string[] = []
    const watch = theirs.watch('/d')[Symbol.asyncIterator]()
    const next = async () => {
      const { value }: { value?: PathChange } = await watch.next()
      seen.push(`${value?.kind} ${value?.path}`)
    }
    const first = next()
    // The watch begins with its first step, and reports no earlier change.
    await theirs.stat('/d')
    await mine.write('/elsewhere', 'x')
    await mine.write('/d/new', 'x')
    await first
    const second = next()
    await theirs.rename('/d/old', '/moved')
    await second
    const third = next()
    await mine.remove('/d', { recursive: true })
    await third
    expect(seen).toEqual(['added /d/new', 'renamed /moved', 'deleted /d/new'])
    await one.close()
    await other.close()
  })

  it('yields everything in a burst, some of it combined', async () => {
    const vault = await (await openHome()).createVault('base')
    const stop = new AbortController()
    const seen = new Set<string>()
    const watching = (async () => {
      for await (const { path } of vault.watch('/', { signal: stop.signal })) {
        seen.add(path)
        if (path === '/last') return
      }
    })()
    await vault.stat('/')
    for (let file = 0; file < 300; file++) await vault.write(`/f${file}`, 'x')
    await vault.write('/last', 'x')
    await watching
    expect(seen.size).toBe(301)
  })

  it('stores nothing', async () => {
    const engine = new MemoryEngine()
    const vault = await (await openHome({ engine })).createVault('base')
    const before = engine.usage().pages.count
    const watch = vault.watch('/')
    const paths: (string | undefined)[] = []
    for (const path of ['/a', '/b', '/c']) {
      const next = watch.next()
      await vault.write(path, 'x')
      const { value }: { value?: PathChange } = await next
      paths.push(value?.path)
    }
    expect(paths).toEqual(['/a', '/b', '/c'])
    expect(engine.usage().pages.count).toBe(before)
    await watch.return(undefined)
  })

  it('continues through page flushes, a garbage collection and a failed flush', async () => {
    const engine = new FullEngine()
    const home = await openHome({ engine })
    const vault = await home.createVault('base')
    const watch = vault.watch('/')
    const afterwards = async (change: () => Promise<unknown>) => {
      const next = watch.next()
      await change()
      const { value }: { value?: PathChange } = await next
      return `${value?.kind} ${value?.path}`
    }
    // More than one page holds.
    const many = () =>
      Promise.all(Array.from({ length: 1500 }, (_, file) => vault.write(`/d/${file}`, `${file}`)))
    expect(await afterwards(many)).toBe('added /d/0')
    for (let rest = 1; rest < 1500; rest++) await watch.next()
    engine.isFull = true
    await expect(vault.checkpoint('never')).rejects.toMatchObject({ code: 'ENOSPC' })
    engine.isFull = false
    expect(await home.fsck()).toMatchObject({ damaged: [] })
    expect(await afterwards(() => vault.write('/d/7', 'other'))).toBe('modified /d/7')
    await vault.checkpoint('then')
    expect(await afterwards(() => vault.remove('/d/8'))).toBe('deleted /d/8')
    await vault.removeCheckpoint('then')
    await vault.checkpoint('now')
    await home.gc()
    expect(await afterwards(() => vault.rename('/d', '/e'))).toBe('renamed /e')
    expect(await home.fsck()).toMatchObject({ damaged: [] })
    await watch.return(undefined)
  })

  it('ends when its signal is aborted', async () => {
    const vault = await (await openHome()).createVault('base')
    const stop = new AbortController()
    const watching = Array.fromAsync(vault.watch('/', { signal: stop.signal }))
    stop.abort()
    await expect(watching).rejects.toMatchObject({ name: 'AbortError' })
  })
})
