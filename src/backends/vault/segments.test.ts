import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { DelayedEngine, LmdbEngine, SqliteEngine } from '../../store/index.ts'
import { isOpenable, readFile } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

const MEBIBYTE = 1024 * 1024
/** More than two segments, and no whole number of chunks. */
const SIZE = 18 * MEBIBYTE + 12_345

const scratch = mkdtempSync(join(tmpdir(), 'coppice-segments-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

const engines = ['sqlite', 'lmdb'] as const
type LocalEngine = (typeof engines)[number]

/** Random bytes of which only the seed is kept in the test. */
function contentOf(seed: string, size = SIZE): Buffer {
  const noise = createHash('shake256', { outputLength: 4096 }).update(seed).digest()
  const content = Buffer.alloc(size)
  for (let at = 0; at < size; at += noise.length) {
    noise.writeDoubleLE(at, 0)
    noise.copy(content, at)
  }
  return content
}

async function* streamOf(content: Uint8Array, partBytes = 100_000): AsyncGenerator<Uint8Array> {
  // One buffer for all parts, as some sources have it.
  const part = Buffer.alloc(partBytes)
  for (let at = 0; at < content.length; at += partBytes) {
    const length = Math.min(partBytes, content.length - at)
    part.set(content.subarray(at, at + length))
    yield part.subarray(0, length)
  }
}

const directoryOf = (home: string, engine: LocalEngine) =>
  join(home, engine === 'sqlite' ? 'store.db-segments' : 'store.lmdb/segments')

function filesOf(home: string, engine: LocalEngine = 'sqlite'): string[] {
  const directory = directoryOf(home, engine)
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : []
}

const isSame = async (vault: Vault, path: string, content: Uint8Array) =>
  Buffer.compare(await readFile(vault, path), content) === 0

async function expectSound(home: Home): Promise<void> {
  expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
}

describe.each(engines)('large content on %s', (engine) => {
  const open = (path: string) => openHome({ path, engine })

  it('is in segment files of their owner alone, written once, and is read back by another process', async () => {
    const path = newPlace()
    const content = contentOf('large')
    {
      await using home = await open(path)
      const vault = await home.createVault('base')
      await vault.write('/large', streamOf(content))
      await vault.write('/small', streamOf(content.subarray(0, MEBIBYTE)))
      expect(filesOf(path, engine)).toHaveLength(3)
    }
    const sizes = filesOf(path, engine).map((file) => statSync(file).size)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(SIZE)
    for (const file of filesOf(path, engine)) expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(directoryOf(path, engine)).mode & 0o777).toBe(0o700)
    await using home = await open(path)
    const vault = await home.vault('base')
    expect(await isSame(vault, '/large', content)).toBe(true)
    expect(await isSame(vault, '/small', content.subarray(0, MEBIBYTE))).toBe(true)
    const range = await readFile(vault, '/large', { byteRange: [9_000_000, 100] })
    expect(Buffer.compare(range, content.subarray(9_000_000, 9_000_100))).toBe(0)
    const { segments, totalBytes } = await home.stats()
    expect(segments).toEqual({ count: 3, bytes: SIZE, location: directoryOf(path, engine) })
    expect(totalBytes).toBeGreaterThan(SIZE)
    await expectSound(home)
  })

  it('is in segments also if it is in memory when it is written', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const content = contentOf('in memory')
    const [first] = await Promise.all([vault.write('/a', content), vault.write('/b', 'small')])
    expect(first).toBeUndefined()
    content.fill(0)
    expect(filesOf(path, engine)).toHaveLength(3)
    expect(await isSame(vault, '/a', contentOf('in memory'))).toBe(true)
  })

  it('is stored once, whether it comes again as a whole, in part, or in a small file', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const content = contentOf('once')
    await vault.write('/small', content.subarray(0, 65_536))
    await vault.write('/one', streamOf(content))
    const [files, { blobs }] = [filesOf(path, engine), await home.stats()]
    await vault.write('/two', streamOf(content, 32_768))
    const shifted = Buffer.concat([content.subarray(8 * MEBIBYTE), content.subarray(0, 2 * MEBIBYTE)])
    await vault.write('/three', streamOf(content.subarray(0, 4 * MEBIBYTE)))
    await vault.write('/four', content.subarray(0, 500_000))
    expect(filesOf(path, engine)).toEqual(files)
    expect((await home.stats()).blobs.count).toBeLessThanOrEqual(blobs.count + 2)
    await vault.write('/five', streamOf(shifted))
    expect(await isSame(vault, '/two', content)).toBe(true)
    expect(await isSame(vault, '/five', shifted)).toBe(true)
    // One stream that repeats itself.
    await vault.write('/six', streamOf(Buffer.alloc(20 * MEBIBYTE, 'abcdefgh')))
    expect(await isSame(vault, '/six', Buffer.alloc(20 * MEBIBYTE, 'abcdefgh'))).toBe(true)
    await expectSound(home)
  })

  it('takes changes in the middle, at the end and in its size', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const content = contentOf('changed')
    await vault.write('/large', streamOf(content))
    await vault.checkpoint('before')
    if (!isOpenable(vault)) throw new Error('a vault opens files')
    {
      await using handle = await vault.open('/large', { write: true })
      await handle.write(10_000_001, Buffer.from('in the middle'))
      await handle.truncate(15 * MEBIBYTE)
    }
    await vault.append('/large', 'at the end')
    const changed = Buffer.from(content.subarray(0, 15 * MEBIBYTE))
    changed.write('in the middle', 10_000_001)
    expect(await isSame(vault, '/large', Buffer.concat([changed, Buffer.from('at the end')]))).toBe(true)
    expect(Buffer.compare(await readFile(vault.at('before'), '/large'), content)).toBe(0)
    await expectSound(home)
  })

  it('gives its space back with the collection after the last vault that has it', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    await vault.write('/large', streamOf(contentOf('dropped')))
    await home.fork('base', 'fork')
    await home.deleteVault('base')
    expect(await home.gc()).toMatchObject({ segments: 0 })
    expect(await isSame(await home.vault('fork'), '/large', contentOf('dropped'))).toBe(true)
    await home.deleteVault('fork')
    const { segments, givenBack, bytes } = await home.gc()
    expect({ segments, bytes }).toEqual({ segments: 3, bytes: SIZE })
    expect(givenBack).toBeGreaterThanOrEqual(SIZE)
    expect(filesOf(path, engine)).toEqual([])
    expect(await home.stats()).toMatchObject({ segments: { count: 0, bytes: 0 } })
  })

  it('moves to new segments once less than half of an old one is in use', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const content = contentOf('sparse', 8 * MEBIBYTE)
    await vault.write('/whole', streamOf(content))
    await vault.write('/kept', content.subarray(3 * MEBIBYTE, 4 * MEBIBYTE))
    const [before] = filesOf(path, engine)
    await vault.remove('/whole')
    const reading = vault.read('/kept', { chunkSize: 32_768 })[Symbol.asyncIterator]()
    const parts = [(await reading.next()).value]
    const report = await home.gc({ keepHistory: new Date(Date.now() + 1) })
    expect(report).toMatchObject({ segments: 1 })
    const files = filesOf(path, engine)
    expect(files).toHaveLength(1)
    expect(files).not.toContain(before)
    expect(files.map((file) => statSync(file).size)).toEqual([MEBIBYTE])
    for (let step = await reading.next(); !step.done; step = await reading.next()) parts.push(step.value)
    expect(Buffer.compare(Buffer.concat(parts), content.subarray(3 * MEBIBYTE, 4 * MEBIBYTE))).toBe(0)
    expect(await isSame(vault, '/kept', content.subarray(3 * MEBIBYTE, 4 * MEBIBYTE))).toBe(true)
    // Found by its hash where it is now.
    await vault.write('/again', content.subarray(3 * MEBIBYTE, 4 * MEBIBYTE))
    expect(filesOf(path, engine)).toEqual(files)
    await expectSound(home)
    expect(await home.gc()).toMatchObject({ segments: 0 })
  })

  it('keeps the segments of a stream that is still being written', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const content = contentOf('in flight')
    const collected: number[] = []
    async function* collecting() {
      for await (const part of streamOf(content, 4 * MEBIBYTE)) {
        yield part
        collected.push((await home.gc()).uploads)
      }
    }
    await vault.write('/large', collecting())
    expect(Math.max(...collected)).toBe(1)
    expect(await isSame(vault, '/large', content)).toBe(true)
    await home.gc()
    await expectSound(home)
  })

  it('leaves nothing behind if its stream fails', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    await vault.write('/large', 'before')
    async function* failing() {
      yield* streamOf(contentOf('failing'))
      throw new Error('the source broke')
    }
    await expect(vault.write('/large', failing())).rejects.toThrow('the source broke')
    expect(filesOf(path, engine)).toEqual([])
    expect(Buffer.from(await readFile(vault, '/large')).toString()).toBe('before')
  })

  it('is reported with its files if a segment is damaged or missing, and salvaged without them', async () => {
    const path = newPlace()
    const [sound, damaged, missing] = ['sound', 'damaged', 'missing'].map((seed) =>
      contentOf(seed, 2 * MEBIBYTE),
    )
    const segmentOf = new Map<string, string>()
    {
      await using home = await open(path)
      const vault = await home.createVault('base')
      for (const [name, content = Buffer.of()] of Object.entries({ sound, damaged, missing })) {
        const before = filesOf(path, engine)
        await vault.write(`/docs/${name}`, streamOf(content))
        segmentOf.set(name, filesOf(path, engine).find((file) => !before.includes(file)) ?? '')
      }
    }
    const bytes = readFileSync(segmentOf.get('damaged') ?? '')
    bytes[MEBIBYTE] = (bytes[MEBIBYTE] ?? 0) ^ 1
    writeFileSync(segmentOf.get('damaged') ?? '', bytes)
    rmSync(segmentOf.get('missing') ?? '')
    const orphan = join(directoryOf(path, engine), 'f'.repeat(32))
    writeFileSync(orphan, 'of a killed writer')
    await using home = await open(path)
    const vault = await home.vault('base')
    const report = await home.fsck()
    const detailsOf = (name: string) =>
      report.damaged.filter(({ places = [] }) => places.includes(`base:/docs/${name}`))
    expect(detailsOf('damaged')).toMatchObject([
      { kind: 'blob', detail: `its checksum does not match in the segment ${segmentOf.get('damaged')}` },
    ])
    expect(detailsOf('missing')).toHaveLength(64)
    expect(detailsOf('missing')[0]?.detail).toContain(`the segment ${segmentOf.get('missing')} is missing`)
    expect(report.damaged).toHaveLength(65)
    expect(report.orphanedSegments).toEqual([orphan])
    await expect(readFile(vault, '/docs/missing')).rejects.toMatchObject({ code: 'EIO' })
    await expect(readFile(vault, '/docs/damaged')).rejects.toMatchObject({ code: 'EIO' })
    expect(await isSame(vault, '/docs/sound', sound ?? Buffer.of())).toBe(true)
    const out = newPlace()
    await home.salvage('base', out)
    expect(readFileSync(join(out, 'docs/sound')).equals(sound ?? Buffer.of())).toBe(true)
    const salvaged = readFileSync(join(out, 'docs/damaged.damaged'))
    expect(damaged?.compare(salvaged, 0, MEBIBYTE, 0, MEBIBYTE)).toBe(0)
    // A collection takes the orphan, and nothing that rows name.
    expect(await home.gc()).toMatchObject({ segments: 1 })
    expect(existsSync(segmentOf.get('damaged') ?? '')).toBe(true)
  })

  it('reports a segment that ends too early', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    await vault.write('/large', streamOf(contentOf('short', 2 * MEBIBYTE)))
    for (const file of filesOf(path, engine)) truncateSync(file, 1_500_000)
    await expect(readFile(vault, '/large')).rejects.toMatchObject({ code: 'EIO' })
    expect((await home.fsck()).damaged[0]?.places).toEqual(['base:/large'])
  })

  it('goes with send and receive, and with import and export', async () => {
    const [from, to] = [newPlace(), newPlace()]
    await using source = await open(from)
    const content = contentOf('sent')
    const directory = newPlace()
    await (await source.createVault('base')).write('/docs/large', streamOf(content))
    await source.export('base', directory)
    await using target = await open(to)
    await target.receive(source.send('base'))
    expect(await isSame(await target.vault('base'), '/docs/large', content)).toBe(true)
    expect(filesOf(to, engine).length).toBeGreaterThan(0)
    await target.createVault('imported')
    const before = filesOf(to, engine)
    await target.import(directory, 'imported')
    expect(await isSame(await target.vault('imported'), '/docs/large', content)).toBe(true)
    expect(filesOf(to, engine)).toEqual(before)
    await target.gc()
    await expectSound(target)
  })
})

describe('large content', () => {
  it('is read from a home that cannot be written', async () => {
    const path = newPlace()
    const content = contentOf('read only')
    {
      await using home = await openHome({ path })
      await (await home.createVault('base')).write('/large', streamOf(content))
    }
    // As root, permissions alone do not make it read-only; opening it as immutable reads the same files.
    chmodSync(directoryOf(path, 'sqlite'), 0o500)
    const engine = new SqliteEngine({ file: join(path, 'store.db'), isImmutable: true })
    await using home = await openHome({ engine })
    expect(await isSame(await home.vault('base'), '/large', content)).toBe(true)
    chmodSync(directoryOf(path, 'sqlite'), 0o700)
  })

  it.each(engines)('works on an engine that waits, on %s', async (name) => {
    const path = newPlace()
    const inner =
      name === 'sqlite'
        ? new SqliteEngine({ file: `${path}.db` })
        : await LmdbEngine.open({ directory: path })
    await using home = await openHome({ engine: new DelayedEngine(inner) })
    const vault = await home.createVault('base')
    const content = contentOf('delayed', 3 * MEBIBYTE)
    await vault.write('/large', streamOf(content))
    await vault.write('/again', streamOf(content))
    expect(await isSame(vault, '/again', content)).toBe(true)
    await home.gc()
    await expectSound(home)
  })

  it('that other engines have stays in their rows', async () => {
    for (const engine of ['level', 'memory'] as const) {
      await using home = await openHome(engine === 'memory' ? { engine } : { path: newPlace(), engine })
      const vault = await home.createVault('base')
      const content = contentOf('rows', 3 * MEBIBYTE)
      await vault.write('/large', streamOf(content))
      expect(await isSame(vault, '/large', content)).toBe(true)
      expect(await home.stats()).toMatchObject({ segments: { count: 0 } })
    }
  })

  it('raises the format of a store, which opens in either form', async () => {
    const path = newPlace()
    const formatOf = () => {
      using db = new DatabaseSync(join(path, 'store.db'), { readOnly: true })
      return db.prepare('PRAGMA user_version').get()?.['user_version']
    }
    const vaultOf = async (home: Home) =>
      (await home.vaults()).length === 0 ? home.createVault('base') : home.vault('base')
    {
      await using home = await openHome({ path })
      await (await vaultOf(home)).write('/small', randomBytes(100_000))
    }
    expect(formatOf()).toBe(1)
    {
      await using home = await openHome({ path })
      await (await vaultOf(home)).write('/large', streamOf(contentOf('format', 2 * MEBIBYTE)))
    }
    // Earlier versions know format 1 alone, and refuse any other.
    expect(formatOf()).toBe(2)
    await using home = await openHome({ path })
    await expectSound(home)
  })

  it('comes along with a copy of the home', async () => {
    const path = newPlace()
    const content = contentOf('copied', 2 * MEBIBYTE)
    {
      await using home = await openHome({ path })
      await (await home.createVault('base')).write('/large', streamOf(content))
    }
    const copy = newPlace()
    cpSync(path, copy, { recursive: true })
    rmSync(path, { recursive: true })
    await using home = await openHome({ path: copy })
    expect(await isSame(await home.vault('base'), '/large', content)).toBe(true)
  })
})
