import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open } from 'lmdb'
import { afterAll, describe, expect, it } from 'vitest'
import { engineSuite } from '../engine-suite.ts'
import { DelayedEngine } from './delayed-engine.ts'
import { LevelEngine } from './level/level-engine.ts'
import { LmdbEngine } from './lmdb/lmdb-engine.ts'
import { MemoryEngine } from './memory-engine.ts'
import { SqliteEngine } from './sqlite/sqlite-engine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-engines-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const NO_HASH = new Uint8Array(0)
let places = 0
const place = () => join(scratch, `home-${++places}`)

engineSuite(
  { describe, it },
  { name: 'memory', open: () => new MemoryEngine(), place, isPersistent: false, isShared: false },
)
engineSuite(
  { describe, it },
  {
    name: 'memory, a network away',
    open: () => new DelayedEngine(new MemoryEngine()),
    place,
    isPersistent: false,
    isShared: false,
  },
)
engineSuite(
  { describe, it },
  { name: 'sqlite', open: (file) => new SqliteEngine({ file }), place, isPersistent: true, isShared: true },
)
engineSuite(
  { describe, it },
  {
    name: 'lmdb',
    open: (directory) => LmdbEngine.open({ directory }),
    place,
    isPersistent: true,
    isShared: true,
  },
)
engineSuite(
  { describe, it },
  {
    name: 'lmdb, full',
    open: (directory) => LmdbEngine.open({ directory, durability: 'full' }),
    place,
    isPersistent: true,
    isShared: true,
  },
)

engineSuite(
  { describe, it },
  {
    name: 'level',
    open: (directory) => LevelEngine.open({ directory }),
    place,
    isPersistent: true,
    isShared: false,
  },
)

describe('the sqlite engine', () => {
  it('refuses a store of a format it does not know, and says what to do', () => {
    const file = place()
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect(() => new SqliteEngine({ file })).toThrow(/format 99, this version knows 3; update coppice/)
  })

  it('removes nothing from a store that a later version has changed meanwhile', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    engine.commit({ blobs: [{ id: 1, hash: NO_HASH, bytes: Buffer.from('kept') }] })
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect(() => engine.commit({ sweep: { blobs: [{ blob: 1, hash: NO_HASH }] } })).toThrow('format 99')
    expect(engine.readBlob(1)).toBeDefined()
  })
})

/** Runs a body with `engine` open on a directory in another process, which then kills itself without closing. */
function inKilledProcess(directory: string, body: string): void {
  const file = JSON.stringify(new URL('./lmdb/lmdb-engine.ts', import.meta.url).href)
  const script = `
    const { LmdbEngine } = await import(${file})
    const engine = await LmdbEngine.open({ directory: ${JSON.stringify(directory)} })
    ${body}
    process.kill(process.pid, 'SIGKILL')`
  const flags = ['--conditions=coppice-source', '--input-type=module', '-e', script]
  const { signal, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 20_000 })
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
}

describe('the lmdb engine', () => {
  const row = (vault: number, seq: number) => ({ vault, seq, bytes: Uint8Array.of(seq % 256) })

  it('answers at once, never with a promise', async () => {
    await using engine = await LmdbEngine.open({ directory: place() })
    const answers = [engine.commit({}), engine.readPage(1), engine.changeCount(), engine.sync()]
    expect(answers).toEqual([true, undefined, 1, undefined])
  })

  it('sees in the same turn what another process committed, and refuses to commit over it', async () => {
    const directory = place()
    await using engine = await LmdbEngine.open({ directory })
    engine.commit({ journal: [row(1, 1)] })
    const before = engine.changeCount()
    inKilledProcess(directory, 'engine.commit({ journal: [{ vault: 1, seq: 2, bytes: Uint8Array.of(2) }] })')
    expect(engine.commit({ journal: [row(1, 2)] })).toBe(false)
    expect(engine.readJournal(1, 0, 10)).toHaveLength(2)
    expect(engine.changeCount()).not.toBe(before)
  })

  it('has every acknowledged commit of a process that was killed', async () => {
    const directory = place()
    const commit = 'engine.commit({ pages: [{ id, bytes: new Uint8Array(10_000).fill(id) }] })'
    inKilledProcess(directory, `for (let id = 1; id <= 200; id++) ${commit}`)
    await using engine = await LmdbEngine.open({ directory })
    for (let id = 1; id <= 200; id++) expect(engine.readPage(id)).toEqual(Buffer.alloc(10_000, id))
  })

  it('lets a writer go on after another was killed inside a transaction', async () => {
    const directory = place()
    await using engine = await LmdbEngine.open({ directory })
    const killed = "get pages() { process.kill(process.pid, 'SIGKILL'); return [] }"
    const blobs = 'blobs: [{ id: 1, hash: new Uint8Array(32), bytes: new Uint8Array(9) }]'
    inKilledProcess(directory, `engine.commit({ ${blobs}, ${killed} })`)
    expect(engine.commit({ pages: [{ id: 1, bytes: Uint8Array.of(1) }] })).toBe(true)
    expect(engine.readBlob(1)).toBeUndefined()
  })

  it('orders numbers above 32 bits, and keeps what is empty apart from what is not there', async () => {
    await using engine = await LmdbEngine.open({ directory: place() })
    const far = 2 ** 40
    engine.commit({ journal: [row(1, 255), row(1, 256), row(1, far), row(2, 1)] })
    engine.commit({ pages: [{ id: far, bytes: new Uint8Array(0) }] })
    expect(engine.readJournal(1, 255, 10).map(({ seq }) => seq)).toEqual([256, far])
    expect(engine.readPage(far)).toEqual(Buffer.alloc(0))
  })

  it('refuses a store of a format it does not know, and says what to do', async () => {
    const directory = place()
    const root = open(directory, { noSubdir: false })
    const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    meta.putSync(Buffer.from('format'), Buffer.of(0, 0, 0, 0, 0, 0, 0, 99))
    await root.close()
    await expect(LmdbEngine.open({ directory })).rejects.toThrow(/format 99, this version knows 3; update/)
  })

  it('removes nothing from a store that a later version has changed meanwhile', async () => {
    const directory = place()
    await using engine = await LmdbEngine.open({ directory })
    await engine.commit({ blobs: [{ id: 1, hash: NO_HASH, bytes: Buffer.from('kept') }] })
    const root = open(directory, { noSubdir: false })
    const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    meta.putSync(Buffer.from('format'), Buffer.of(0, 0, 0, 0, 0, 0, 0, 99))
    await root.close()
    expect(() => engine.commit({ sweep: { blobs: [{ blob: 1, hash: NO_HASH }] } })).toThrow('format 99')
    expect(engine.readBlob(1)).toBeDefined()
  })

  it('reports a failed commit as EIO, changes nothing by it and goes on', async () => {
    await using engine = await LmdbEngine.open({ directory: place() })
    const key = 'k'.repeat(5000)
    expect(() =>
      engine.commit({
        pages: [{ id: 7, bytes: Uint8Array.of(7) }],
        records: [{ key, bytes: Uint8Array.of(1) }],
      }),
    ).toThrow(/EIO/)
    expect(engine.readPage(7)).toBeUndefined()
    expect(engine.commit({ pages: [{ id: 1, bytes: new Uint8Array(1) }] })).toBe(true)
  })
})
