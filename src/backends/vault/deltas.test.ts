import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { type FileSystem, isOpenable, readFile } from '../../vfs/index.ts'
import { type Home, openHome } from './index.ts'

const KIBIBYTE = 1024
const CHUNK_BYTES = 32 * KIBIBYTE
const PATH = '/table.db'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-deltas-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)
const forgetAll = () => ({ keepHistory: new Date(Date.now() + 1) })

/** A file in a vault and the bytes that it must have. */
class ChangedFile {
  readonly content: Buffer
  readonly vault: FileSystem

  private constructor(vault: FileSystem, content: Buffer) {
    this.vault = vault
    this.content = content
  }

  static async create(vault: FileSystem, size: number): Promise<ChangedFile> {
    const content = randomBytes(size)
    await vault.write(PATH, content)
    return new ChangedFile(vault, content)
  }

  static async read(vault: FileSystem): Promise<ChangedFile> {
    return new ChangedFile(vault, Buffer.from(await readFile(vault, PATH)))
  }

  async change(position: number, length: number): Promise<void> {
    if (!isOpenable(this.vault)) throw new Error('the vault cannot open files')
    const bytes = randomBytes(length)
    await using handle = await this.vault.open(PATH, { write: true })
    await handle.write(position, bytes)
    this.content.set(bytes, position)
  }

  async isIn(vault: FileSystem): Promise<boolean> {
    return this.content.equals(await readFile(vault, PATH))
  }
}

async function expectSound(home: Home): Promise<void> {
  expect((await home.fsck()).damaged).toEqual([])
}

describe.each(['sqlite', 'lmdb'] as const)('small changes of a large file on %s', (engine) => {
  const open = (path: string) => openHome({ path, engine })
  const countBlobBytes = async (home: Home) => (await home.stats()).blobs.bytes

  it('are stored without what is around them, and are read by another process, a fork and an earlier version', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const file = await ChangedFile.create(vault, 20 * CHUNK_BYTES + 100)
    const before = Buffer.from(file.content)
    await home.fork('base', 'other')
    const bytes = await countBlobBytes(home)
    for (let index = 0; index < 20; index++) await file.change(index * CHUNK_BYTES + 5000, 4 * KIBIBYTE)
    // Over the border of two chunks, and again over what was changed.
    await file.change(3 * CHUNK_BYTES - 50, 100)
    await file.change(7000, KIBIBYTE)
    expect((await countBlobBytes(home)) - bytes).toBeLessThan(30 * 4.1 * KIBIBYTE)
    expect(await file.isIn(vault)).toBe(true)
    expect(before.equals(await readFile(await home.vault('other'), PATH))).toBe(true)
    const versions = (await Array.fromAsync(vault.versions(PATH))).map(({ version }) => version)
    expect(versions).toHaveLength(23)
    const first = await Array.fromAsync(vault.readVersion(PATH, versions.at(-1) ?? ''))
    expect(before.equals(Buffer.concat(first))).toBe(true)
    await expectSound(home)
    await using again = await open(path)
    expect(await file.isIn(await again.vault('base'))).toBe(true)
  })

  it('keep what they are based on through collections, as long as they need it', async () => {
    const path = newPlace()
    await using home = await open(path)
    const vault = await home.createVault('base')
    const file = await ChangedFile.create(vault, 2 * CHUNK_BYTES)
    await file.change(5000, 4 * KIBIBYTE)
    await file.change(CHUNK_BYTES, KIBIBYTE)
    await home.gc(forgetAll())
    expect(await file.isIn(vault)).toBe(true)
    await expectSound(home)
    await using again = await open(path)
    expect(await file.isIn(await again.vault('base'))).toBe(true)
    await again.close()

    // Half of a chunk is no small change: both are whole again, and nothing else is left.
    for (const start of [0, CHUNK_BYTES]) await file.change(start, 17 * KIBIBYTE)
    await home.gc(forgetAll())
    expect((await home.stats()).blobs).toEqual({ count: 2, bytes: 2 * CHUNK_BYTES })
    expect(await file.isIn(vault)).toBe(true)
    await expectSound(home)
  })

  it('are whole in a fork in memory, which a collection does not know', async () => {
    await using home = await open(newPlace())
    const vault = await home.createVault('base')
    await ChangedFile.create(vault, 2 * CHUNK_BYTES)
    const fork = await vault.fork()
    const file = await ChangedFile.read(fork)
    await file.change(5000, 4 * KIBIBYTE)
    await vault.remove(PATH)
    await home.gc(forgetAll())
    expect(await file.isIn(fork)).toBe(true)
  })

  it('count with their own size in the usage of a fork, and share the rest', async () => {
    await using home = await open(newPlace())
    const vault = await home.createVault('base')
    await ChangedFile.create(vault, 10 * CHUNK_BYTES)
    const fork = await home.fork('base', 'other')
    const file = await ChangedFile.read(fork)
    const before = await countBlobBytes(home)
    for (let index = 0; index < 10; index++) await file.change(index * CHUNK_BYTES, 2 * KIBIBYTE)
    expect(await fork.quota.usage()).toMatchObject({
      privateBytes: (await countBlobBytes(home)) - before,
      sharedBytes: 10 * CHUNK_BYTES,
    })
  })

  it('are as small for bytes that are appended', async () => {
    await using home = await open(newPlace())
    const vault = await home.createVault('base')
    const lines = Array.from({ length: 200 }, () => randomBytes(100))
    for (const line of lines) await vault.append(PATH, line)
    expect(Buffer.concat(lines).equals(await readFile(vault, PATH))).toBe(true)
    // Each version of 20 KB as a whole would take two megabytes.
    expect(await countBlobBytes(home)).toBeLessThan(700 * KIBIBYTE)
    await expectSound(home)
  })

  it('go to another home', async () => {
    await using home = await open(newPlace())
    const file = await ChangedFile.create(await home.createVault('base'), 3 * CHUNK_BYTES)
    await file.change(40_000, 100)
    await using other = await open(newPlace())
    await other.receive(home.send('base'), { as: 'copy' })
    expect(await file.isIn(await other.vault('copy'))).toBe(true)
    await expectSound(other)
  })
})

describe('small changes of a large file', () => {
  it('raise the format of a store, which earlier versions then refuse', async () => {
    const path = newPlace()
    await using home = await openHome({ path })
    const file = await ChangedFile.create(await home.createVault('base'), 2 * CHUNK_BYTES)
    expect(readFormat(path)).toBe(1)
    await file.change(0, 1)
    expect(readFormat(path)).toBe(3)
    await file.vault.write('/large', randomBytes(2 * KIBIBYTE * KIBIBYTE))
    expect(readFormat(path)).toBe(3)
  })

  it('raise it before they are in the side log of a mount, which an earlier version would replay', async () => {
    const path = newPlace()
    await using home = await openHome({ path })
    const file = await ChangedFile.create(await home.createVault('base'), 2 * CHUNK_BYTES)
    expect(readFormat(path)).toBe(1)
    const posix = await home.posix('base', { usesGroupCommit: true })
    posix.write(posix.lookup(1, PATH.slice(1)) ?? 0, 5000, file.content.subarray(0, 4 * KIBIBYTE))
    expect(posix.pendingVersion).toBeGreaterThan(0)
    expect(readFormat(path)).toBe(3)
    posix.commit()
  })

  it('are reported with their file if they or what they are based on is damaged, and salvaged without', async () => {
    const path = newPlace()
    let changed: Uint8Array = new Uint8Array(0)
    {
      await using home = await openHome({ path })
      const vault = await home.createVault('base')
      const file = await ChangedFile.create(vault, 3 * CHUNK_BYTES)
      await file.change(10, 10)
      await file.change(CHUNK_BYTES + 10, 10)
      changed = file.content.subarray(10, 20)
    }
    damageLastBytes(path, 'id = (SELECT max(id) FROM blobs)')
    await using home = await openHome({ path })
    const isDamaged = { kind: 'blob', places: [`base:${PATH}`] }
    const { damaged } = await home.fsck()
    expect(damaged).toEqual([expect.objectContaining(isDamaged)])
    await expect(readFile(await home.vault('base'), PATH)).rejects.toMatchObject({ code: 'EIO' })
    // The collection keeps what the other one is based on.
    await home.gc(forgetAll())
    expect((await home.fsck()).damaged).toHaveLength(1)
    damageLastBytes(path, 'length(bytes) = 32768')
    expect((await home.fsck()).damaged).toHaveLength(3)
    await home.salvage('base', join(path, 'out'))
    const salvaged = readFileSync(join(path, 'out', `${PATH}.damaged`))
    expect(salvaged).toHaveLength(3 * CHUNK_BYTES)
    expect(salvaged.subarray(0, 30)).toEqual(Buffer.concat([Buffer.alloc(10), changed, Buffer.alloc(10)]))
  })
})

function useDatabase<T>(path: string, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(path, 'store.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

function readFormat(path: string): unknown {
  return useDatabase(path, (db) => db.prepare('PRAGMA user_version').get()?.['user_version'])
}

/** Changes the last bytes of blobs in the store itself. */
function damageLastBytes(path: string, where: string): void {
  const damaged = 'CAST(substr(bytes, 1, length(bytes) - 4) || zeroblob(4) AS BLOB)'
  useDatabase(path, (db) => db.exec(`UPDATE blobs SET bytes = ${damaged} WHERE ${where}`))
}
