import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { readFile, readText } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-gc-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

/** Everything from before this very moment is forgotten. */
const forgetAll = () => ({ keepHistory: new Date(Date.now() + 1) })
const chunk = (fill: number) => new Uint8Array(40_000).fill(fill)

async function contentsOf(vault: Vault, path: string): Promise<string[]> {
  const contents: string[] = []
  for await (const { version } of vault.versions(path))
    contents.push(Buffer.concat(await Array.fromAsync(vault.readVersion(path, version))).toString())
  return contents
}

const expectSound = async (home: Home) => expect((await home.fsck()).damaged).toEqual([])

describe('a garbage collection', () => {
  it('removes the trees of merged and deleted forks, also with checkpoints', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    for (let file = 0; file < 300; file++) await base.write(`/d${file % 7}/f${file}`, `${file}`)
    const pages = async () => {
      await home.gc(forgetAll())
      return (await home.stats()).pages.count
    }
    const cycle = async (name: string) => {
      const fork = await home.fork('base', name)
      await fork.write('/d3/f3', `by ${name}`)
      await home.merge(name, 'base')
      await home.deleteVault(name)
    }
    await cycle('first')
    const before = await pages()
    for (let i = 0; i < 12; i++) await cycle(`fork-${i}`)
    expect(await pages()).toBeLessThanOrEqual(before + 1)
    await base.checkpoint('kept')
    expect(await pages()).toBeLessThanOrEqual(before + 1)
    expect(await readText(base, '/d3/f3')).toBe('by fork-11')
    await expectSound(home)
  })

  it("keeps what a merge of a deleted fork's fork needs", async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', 'one\n')
    const fork = await home.fork('base', 'fork')
    await fork.write('/b', 'of the fork\n')
    const grandchild = await home.fork('fork', 'grandchild')
    await home.merge('fork', 'base')
    await home.deleteVault('fork')
    await home.gc(forgetAll())
    await base.remove('/b')
    await grandchild.write('/c', 'of the grandchild\n')
    await home.merge('grandchild', 'base')
    // The base had taken it and removed it since: the merge brings back nothing.
    expect(await base.exists('/b')).toBe(false)
    expect(await readText(base, '/c')).toBe('of the grandchild\n')
    await expectSound(home)
  })

  it('frees nearly everything when all vaults are deleted', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    for (let file = 0; file < 300; file++) await base.write(`/d${file % 7}/f${file}`, 'x'.repeat(file * 20))
    await base.checkpoint('kept')
    const task = await home.fork('base', 'task')
    await task.write('/large', new Uint8Array(500_000).fill(3))
    await home.merge('task', 'base')
    const before = await home.stats()
    expect(before.pages.count).toBeGreaterThan(10)
    for (const name of await home.vaults()) await home.deleteVault(name)
    const report = await home.gc(forgetAll())
    const after = await home.stats()
    expect(after).toMatchObject({ vaults: 0, checkpoints: 0, pages: { count: 0 }, blobs: { count: 0 } })
    expect(after.journal.count).toBeLessThanOrEqual(2)
    expect(report).toMatchObject({ pages: before.pages.count, blobs: before.blobs.count, uploads: 0 })
    expect(report.bytes).toBeGreaterThanOrEqual(before.blobs.bytes)
    expect((await home.gc()).pages).toBe(0)
  })

  it('shrinks the store on disk while others use it, and loses nothing', async () => {
    const path = newPlace()
    const sizeOf = () => statSync(join(path, 'store.db')).size
    const home = await openHome({ path })
    const base = await home.createVault('base')
    await base.write('/kept', randomBytes(300_000))
    const task = await home.fork('base', 'task')
    for (let file = 0; file < 50; file++) await task.write(`/f${file}`, randomBytes(200_000))
    await base.write('/late', randomBytes(300_000))
    const kept = await readFile(base, '/kept')
    await home.deleteVault('task')

    const other = await openHome({ path })
    const writer = await other.vault('base')
    const [report] = await Promise.all([
      home.gc(forgetAll()),
      writer.write('/meanwhile', randomBytes(100_000)),
    ])
    expect(report.givenBack).toBeGreaterThan(9_000_000)
    await Promise.all([home.close(), other.close()])
    expect(sizeOf()).toBeLessThan(2_000_000)

    await using again = await openHome({ path })
    await expectSound(again)
    const vault = await again.vault('base')
    expect(await readFile(vault, '/kept')).toEqual(kept)
    expect((await vault.stat('/meanwhile')).size).toBe(100_000)
  })

  it('gives back the room of a deleted vault while the home stays open, with its log', async () => {
    const path = newPlace()
    const measure = () =>
      readdirSync(path).reduce((sum, name) => {
        const stats = statSync(join(path, name))
        return sum + (stats.isFile() ? stats.size : 0)
      }, 0)
    await using home = await openHome({ path })
    await (await home.createVault('kept')).write('/f', 'kept')
    const before = measure()
    const vault = await home.createVault('gone')
    for (let file = 0; file < 50; file++) await vault.write(`/f${file}`, randomBytes(200_000))
    await home.deleteVault('gone')
    const full = measure()
    await home.gc()
    expect((full - measure()) / (full - before)).toBeGreaterThan(0.95)
    await expectSound(home)
  })

  it('keeps every version of a file until versions are pruned', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/f', chunk(65))
    await vault.write('/f', chunk(66))
    await vault.append('/f', 'tail')
    await vault.remove('/f')
    await vault.write('/f', 'last')
    const all = await contentsOf(vault, '/f')
    expect(all.length).toBe(4)
    expect((await home.gc()).blobs).toBe(0)
    expect(await contentsOf(vault, '/f')).toEqual(all)
    const { blobs, journalRows } = await home.gc(forgetAll())
    expect(blobs).toBeGreaterThan(1)
    expect(journalRows).toBe(4)
    expect(await contentsOf(vault, '/f')).toEqual(['last'])
    await expectSound(home)
  })

  it('leaves only readable versions when it prunes their bases', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/f', `${'x'.repeat(40_000)}\n`)
    await vault.append('/f', 'one\n')
    const moment = new Date()
    while (Date.now() <= moment.getTime()) await setImmediate()
    await vault.append('/f', 'two\n')
    await vault.append('/f', 'three\n')
    await vault.write('/g', 'whole\n')
    await vault.append('/g', 'more\n')
    await home.gc({ keepHistory: new Date(moment.getTime() + 1) })
    const whole = await readText(vault, '/f')
    expect(await contentsOf(vault, '/f')).toEqual([whole])
    expect(await contentsOf(vault, '/g')).toEqual(['whole\nmore\n', 'whole\n'])
    expect((await vault.blame('/f')).map(({ text }) => text)).toEqual(whole.trimEnd().split('\n'))
    await vault.append('/f', 'four\n')
    expect((await contentsOf(vault, '/f')).at(0)).toBe(`${whole}four\n`)
  })

  it('keeps checkpoints, forks, and the history that a fork has from a deleted vault', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/f', chunk(65))
    await base.checkpoint('then')
    await base.write('/f', chunk(66))
    const task = await home.fork('base', 'task')
    await base.write('/f', chunk(67))
    await home.gc()
    expect((await readFile(base.at('then'), '/f'))[0]).toBe(65)
    await home.deleteVault('base')
    await home.gc()
    expect((await contentsOf(task, '/f')).map((content) => content[0])).toEqual(['B', 'A'])
    expect(await Array.fromAsync(task.diff())).toEqual([])
    await expectSound(home)
  })

  it('removes nothing that another home writes meanwhile, and loses none of its writes', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    for (let file = 0; file < 20; file++) await mine.write(`/f${file}`, chunk(file))
    for (let file = 0; file < 20; file++) await mine.remove(`/f${file}`)
    const collection = one.gc(forgetAll())
    // The same content again: found by its hash until that is taken away.
    for (let file = 0; file < 20; file++) await theirs.write(`/f${file}`, chunk(file))
    await collection
    for (let file = 0; file < 20; file++) expect((await readFile(mine, `/f${file}`))[0]).toBe(file)
    await expectSound(other)
    await one.close()
    await other.close()
  })

  it('that prunes everything makes no home overwrite the writes of others', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    await theirs.write('/theirs', '1')
    for (let line = 0; line < 10; line++) await mine.append('/log', `${line}\n`)
    await one.gc(forgetAll())
    await theirs.append('/log', 'last\n')
    await mine.append('/log', 'very last\n')
    expect(await readText(mine, '/log')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\nlast\nvery last\n')
    expect(await readText(theirs, '/log')).toBe(await readText(mine, '/log'))
    await one.close()
    expect(await readText(await (await openHome({ path })).vault('base'), '/log')).toMatch(
      /9\nlast\nvery last\n$/,
    )
    await other.close()
  })

  it('rejects writes to a deleted vault, though its journal is removed', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    await one.createVault('base')
    const theirs = await other.vault('base')
    await theirs.write('/f', 'x')
    await one.deleteVault('base')
    await one.gc(forgetAll())
    await expect(theirs.write('/f', 'y')).rejects.toMatchObject({ code: 'ENOENT' })
    await one.close()
    await other.close()
  })

  it('reports progress and stops on abort, with nothing lost', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    for (let file = 0; file < 200; file++) await vault.write(`/f${file}`, chunk(file % 5))
    for (let file = 0; file < 100; file++) await vault.remove(`/f${file}`)
    const phases = new Set<string>()
    const stop = new AbortController()
    const stopped = home.gc({
      ...forgetAll(),
      signal: stop.signal,
      onProgress: ({ phase }) => {
        phases.add(phase)
        stop.abort()
      },
    })
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
    await expectSound(home)
    await home.gc({ ...forgetAll(), onProgress: ({ phase }) => phases.add(phase) })
    expect([...phases].sort()).toEqual(
      ['hashing', 'marking', 'sweeping'].filter((phase) => phases.has(phase)),
    )
    expect(phases).toContain('sweeping')
    await expectSound(home)
    expect((await Array.fromAsync(vault.walk('/'))).length).toBe(100)
  })

  it('does not let vaults that merge each other keep all their former states', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    const task = await home.fork('base', 'task')
    const sizes: number[] = []
    for (let round = 0; round < 8; round++) {
      for (let file = 0; file < 100; file++) await task.write(`/f${file}`, `${round} ${file}`)
      await home.merge('task', 'base')
      await base.write('/round', `${round}`)
      await home.merge('base', 'task')
      await home.gc(forgetAll())
      sizes.push((await home.stats()).pages.count)
    }
    expect(sizes.at(-1)).toBeLessThanOrEqual((sizes.at(2) ?? 0) + 2)
    await expectSound(home)
  })
})

describe('a stream that comes in during a garbage collection', () => {
  const pieces = Array.from({ length: 12 }, () => randomBytes(1024 * 1024))

  it('keeps its content when it is stored before its end because it is large', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    const source = async function* () {
      for (const [index, piece] of pieces.entries()) {
        yield piece
        if (index === 10) expect((await home.gc(forgetAll())).uploads).toBe(1)
      }
    }
    await vault.write('/large', source())
    const bytes = Buffer.from(await readFile(vault, '/large'))
    expect(bytes.equals(Buffer.concat(pieces))).toBe(true)
    await expectSound(home)
    expect(await home.gc()).toMatchObject({ uploads: 0, blobs: 0 })
  })

  it('keeps its content when another write is committed meanwhile', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    const source = async function* () {
      yield chunk(7)
      await vault.write('/other', 'x')
      await home.gc()
      yield chunk(8)
    }
    await vault.write('/stream', source())
    const bytes = Buffer.from(await readFile(vault, '/stream'))
    expect(bytes.equals(Buffer.concat([chunk(7), chunk(8)]))).toBe(true)
    await expectSound(home)
  })
})
