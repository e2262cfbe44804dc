import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Home, type Vault } from '../../src/backends/vault/index.ts'
import { DelayedEngine, LocalCache, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { tapEngine } from '../support/tap-engine.ts'

const FILES = 400
let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-cache-'))
  file = join(directory, 'deep', 'cache.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

/** A machine that reads a remote home through its cache, and counts pages and blobs that it was sent. */
class Machine {
  sent = 0
  readonly home: Home

  constructor(engine: MemoryEngine, localCache: LocalCache) {
    const far = new DelayedEngine(engine, { localCache })
    const before = (call: string, [batch]: readonly unknown[]) => {
      if (call === 'readBatch' && isPages(batch)) this.sent += batch.pages.length + batch.blobs.length
    }
    this.home = new Home(new StoreHome(tapEngine(far, { before })))
  }

  get vault(): Promise<Vault> {
    return this.home.vault('base')
  }
}

function isPages(batch: unknown): batch is { pages: readonly unknown[]; blobs: readonly unknown[] } {
  return typeof batch === 'object' && batch !== null && 'pages' in batch && 'blobs' in batch
}

async function storeFiles(): Promise<MemoryEngine> {
  const engine = new MemoryEngine()
  const home = new Home(new StoreHome(engine))
  const vault = await home.createVault('base')
  for (let number = 0; number < FILES; number++)
    await vault.write(`/d${number % 7}/f${number}`, `${number} `.repeat(200))
  await home.close()
  return engine
}

async function readAll(vault: Vault): Promise<string[]> {
  const paths = await Array.fromAsync(vault.walk('/'), ({ path }) => path)
  return Promise.all(paths.map((path) => readText(vault, path)))
}

/** Reads everything as a process of this machine does that starts and ends. */
async function readOnce(engine: MemoryEngine): Promise<{ contents: string[]; sent: number }> {
  using cache = new LocalCache({ file })
  const machine = new Machine(engine, cache)
  const contents = await readAll(await machine.vault)
  return { contents, sent: machine.sent }
}

describe('the cache of a machine', () => {
  it('serves pages and blobs to the next process, which is sent none', async () => {
    const engine = await storeFiles()
    const first = await readOnce(engine)
    expect(first.contents.length).toBe(FILES)
    expect(first.sent).toBeGreaterThan(0)
    expect(await readOnce(engine)).toEqual({ contents: first.contents, sent: 0 })
  })

  it('is for its owner alone', () => {
    using cache = new LocalCache({ file })
    cache.put([{ id: 1, bytes: Buffer.from('secret') }])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'deep')).mode & 0o777).toBe(0o700)
  })

  it('never returns damage: whatever changed in the file, contents are right', async () => {
    const engine = await storeFiles()
    const { contents } = await readOnce(engine)
    const intact = readFileSync(file)
    let sentAgain = 0
    for (let round = 0; round < 20; round++) {
      // Beyond the first page, which has the schema: without it, nothing of the file would be used.
      const bytes = Buffer.from(intact)
      for (let at = 4096 + 97 * round; at < bytes.length; at += 1999)
        bytes.writeUInt8(bytes.readUInt8(at) ^ 255, at)
      writeFileSync(file, bytes)
      const again = await readOnce(engine)
      expect(again.contents).toEqual(contents)
      sentAgain += again.sent
    }
    expect(sentAgain).toBeGreaterThan(0)
  })

  it.each([
    ['is cut off', () => truncateSync(file, 5000)],
    ['is something else', () => writeFileSync(file, 'not a database '.repeat(1000))],
  ])('starts anew if its file %s', async (_, damage) => {
    const engine = await storeFiles()
    const { contents } = await readOnce(engine)
    damage()
    expect((await readOnce(engine)).contents).toEqual(contents)
    // The file that was damaged in use goes; the next process fills a new one.
    await readOnce(engine)
    expect(await readOnce(engine)).toEqual({ contents, sent: 0 })
  })

  it('is left out if its file cannot be made', async () => {
    writeFileSync(join(directory, 'deep'), 'a file in the place of the directory')
    expect((await readOnce(await storeFiles())).contents.length).toBe(FILES)
  })

  it('stays within its limit, and drops the oldest first', () => {
    using cache = new LocalCache({ file, limit: 1_000_000 })
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1)
    for (const id of ids) cache.put([{ id, bytes: Buffer.alloc(4000, id % 256) }])
    const kept = ids.filter((id) => cache.get(id) !== undefined)
    expect(kept.length).toBeGreaterThan(100)
    expect(kept).toEqual(ids.slice(-kept.length))
    expect(statSync(file).size).toBeLessThan(1_200_000)
  })

  it('is shared by processes that read and write at once', async () => {
    const engine = await storeFiles()
    const all = await Promise.all(Array.from({ length: 4 }, () => readOnce(engine)))
    for (const { contents } of all) expect(contents).toEqual(all[0]?.contents)
  })
})
