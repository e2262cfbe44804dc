import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { DelayedEngine, LevelEngine, MemoryEngine, SqliteEngine, StoreHome } from '../../store/index.ts'
import { isSynchronous, readText, type SyncFileHandle, type SyncFileSystem } from '../../vfs/index.ts'
import { Home, openHome, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-sync-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

const newVault = async (): Promise<Vault> => (await openHome()).createVault('base')
const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const textOf = (handle: SyncFileHandle) => Buffer.from(handle.read(0, 1_000_000)).toString()

function put(fs: SyncFileSystem, path: string, text: string): void {
  const handle = fs.open(path, { write: true, create: true, truncate: true })
  handle.write(0, bytes(text))
  handle.close()
}

function get(fs: SyncFileSystem, path: string): string {
  const handle = fs.open(path)
  try {
    return textOf(handle)
  } finally {
    handle.close()
  }
}

describe('the two interfaces of a vault', () => {
  it("see each other's changes immediately, also unawaited writes", async () => {
    const vault = await newVault()
    const writes = ['/a', '/b', '/c'].map((path) => vault.write(path, `content of ${path}`))
    expect(vault.sync.readdir('/').map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(get(vault.sync, '/b')).toBe('content of /b')
    await Promise.all(writes)
    put(vault.sync, '/d/e', 'x'.repeat(100_000))
    expect(await readText(vault, '/d/e')).toBe('x'.repeat(100_000))
    const late = vault.write('/a', 'late')
    vault.sync.rename('/a', '/z')
    await late
    expect(await readText(vault, '/z')).toBe('late')
    expect(await vault.exists('/a')).toBe(false)
  })

  it('are shared by every object of the vault, and separate for a fork', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    put(vault.sync, '/f', 'one')
    const other = await home.vault('base')
    const [named, detached] = [await home.fork('base', 'task'), vault.fork()]
    const handle = vault.sync.open('/f', { write: true })
    handle.write(3, bytes(' two'))
    expect(get(other.sync, '/f')).toBe('one two')
    expect(await readText(named, '/f')).toBe('one')
    expect(await readText(detached, '/f')).toBe('one')
    if (!isSynchronous(detached)) throw new Error('a fork in memory is local')
    put(detached.sync, '/f', 'mine')
    expect(await readText(detached, '/f')).toBe('mine')
    expect(textOf(handle)).toBe('one two')
  })

  it('record the caller in the journal and respect the quota', async () => {
    const vault = await newVault()
    const caller = { kind: 'context', context: 'alice' } as const
    vault.sync.mkdir('/d', {}, { caller })
    vault.sync.open('/d/f', { write: true, create: true }, { caller }).write(0, bytes('hello'))
    const rows = await Array.fromAsync(vault.journal())
    expect(rows.map(({ op, path, caller }) => [op, path, caller])).toEqual([
      ['mkdir', '/d', caller],
      ['write', '/d/f', caller],
      ['patch', '/d/f', caller],
    ])
    await vault.quota.set({ bytes: 10 })
    const handle = vault.sync.open('/d/f', { write: true })
    expect(() => handle.write(5, bytes('123456'))).toThrow('ENOSPC')
    expect(() => handle.truncate(11)).toThrow('ENOSPC')
    handle.write(5, bytes('12345'))
    expect(await readText(vault, '/d/f')).toBe('hello12345')
  })

  it('reject links for a call that refuses them, and never change the history', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'x')
    await vault.symlink('d', '/l')
    await vault.checkpoint('one')
    const refusing = { links: 'refuse' } as const
    expect(() => vault.sync.open('/l/f', { write: true }, refusing)).toThrow('ELOOP')
    expect(() => vault.sync.setattr('/l/f', { mode: 0o600 }, refusing)).toThrow('ELOOP')
    expect(() => vault.sync.link('/l/f', '/g', refusing)).toThrow('ELOOP')
    expect(() => vault.sync.rmdir('/l/f', refusing)).toThrow('ELOOP')
    expect(() => vault.sync.mkdir('/.coppice/at/two')).toThrow('EROFS')
    expect(() => vault.sync.rename('/d/f', '/.coppice/f')).toThrow('EROFS')
    expect(() => vault.sync.link('/d/f', '/.coppice/f')).toThrow('EROFS')
    expect(() => vault.sync.stat('/.coppice/at/one')).toThrow('ENOTSUP')
    await expect(vault.link('/d/f', '/.coppice/f')).rejects.toMatchObject({ code: 'EROFS' })
    await expect(vault.setattr('/.coppice/log', { mode: 0 })).rejects.toMatchObject({ code: 'EROFS' })
  })

  it('are only one on an asynchronous engine', async () => {
    const engines = [new DelayedEngine(new MemoryEngine()), await LevelEngine.open({ directory: newPlace() })]
    for (const engine of engines) {
      await using home = new Home(new StoreHome(engine))
      const vault = await home.createVault('base')
      for (const fs of [vault, vault.fork(), await home.fork('base', 'task'), await home.vault('base')])
        expect(isSynchronous(fs)).toBe(false)
      expect(() => vault.sync).toThrow('has no synchronous calls')
    }
  })
})

describe('attributes and names of a file', () => {
  it('change without its content, through a link or on the link itself', async () => {
    const vault = await newVault()
    const mtime = new Date('2001-02-03T04:05:06.789Z')
    await vault.write('/f', 'x')
    await vault.symlink('f', '/l')
    await vault.setattr('/l', { mode: 0o640, mtime })
    expect(await vault.stat('/f')).toEqual({ type: 'file', size: 1, mtime, mode: 0o640 })
    await vault.setattr('/l', { mtime, ofLink: true })
    expect(await vault.stat('/l')).toMatchObject({ type: 'symlink', mtime, mode: 0o777 })
    vault.sync.setattr('/', { mode: 0o700 })
    expect(await vault.stat('/')).toMatchObject({ mode: 0o700 })
    await expect(vault.setattr('/missing', {})).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(vault.setattr('/f', { mode: -1 })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(vault.setattr('/f', { mtime: new Date(Number.NaN) })).rejects.toMatchObject({
      code: 'EINVAL',
    })
  })

  it('may be several: a change under one is visible under all', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    await vault.link('/f', '/g')
    await vault.append('/g', ' two')
    expect(await readText(vault, '/f')).toBe('one two')
    const identity = await vault.identity('/f')
    expect(identity).toEqual({ ino: expect.any(Number), nlink: 2 })
    expect(await vault.identity('/g')).toEqual(identity)
    await vault.rename('/f', '/h')
    expect(vault.sync.stat('/h')).toMatchObject(identity)
    vault.sync.remove('/g')
    expect(await vault.identity('/h')).toEqual({ ...identity, nlink: 1 })
    await expect(vault.link('/h', '/h')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(vault.link('/missing', '/x')).rejects.toMatchObject({ code: 'ENOENT' })
    await vault.mkdir('/d')
    await expect(vault.link('/d', '/x')).rejects.toMatchObject({ code: 'EISDIR' })
    expect(() => vault.sync.link('/h', '/h/x')).toThrow('ENOTDIR')
    expect(() => vault.sync.link('/h', '/missing/x')).toThrow('ENOENT')
  })

  it('of a link are those of the link itself', async () => {
    const vault = await newVault()
    await vault.symlink('nowhere', '/l')
    await vault.link('/l', '/m')
    expect(await vault.readlink('/m')).toBe('nowhere')
    expect(vault.sync.stat('/m')).toMatchObject({ type: 'symlink', nlink: 2 })
  })
})

describe('a synchronous handle', () => {
  it('has random access, with zeros in gaps', async () => {
    const vault = await newVault()
    const handle = vault.sync.open('/f', { write: true, create: true })
    handle.write(70_000, bytes('end'))
    handle.write(2, bytes('ab'))
    expect(handle.stat()).toMatchObject({ type: 'file', size: 70_003, nlink: 1 })
    expect([...handle.read(0, 6)]).toEqual([0, 0, 97, 98, 0, 0])
    handle.truncate(3)
    expect([...handle.read(0, 10)]).toEqual([0, 0, 97])
    handle.truncate(5)
    expect([...handle.read(1, 10)]).toEqual([0, 97, 0, 0])
    expect([...handle.read(9, 10)]).toEqual([])
    handle.sync()
    expect((await vault.stat('/f')).size).toBe(5)
    expect(() => handle.read(-1, 1)).toThrow('EINVAL')
    expect(() => handle.write(0.5, bytes('x'))).toThrow('EINVAL')
    expect(() => handle.write(2 ** 50, bytes('x'))).toThrow('EFBIG')
    handle.close()
    handle.close()
    for (const use of [() => handle.read(0, 1), () => handle.stat(), () => handle.sync()])
      expect(use).toThrow('EBADF')
  })

  it('returns its own copies and copies its input', async () => {
    const vault = await newVault()
    const handle = vault.sync.open('/f', { write: true, create: true })
    const given = new Uint8Array(5000).fill(1)
    handle.write(0, given)
    given.fill(2)
    handle.read(0, 5000).fill(3)
    expect(handle.read(0, 5000).every((byte) => byte === 1)).toBe(true)
  })

  it('is rejected for a missing path, a directory, and writes without write access', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'x')
    expect(() => vault.sync.open('/missing', { write: true })).toThrow('ENOENT')
    expect(() => vault.sync.open('/d', { create: true })).toThrow('EISDIR')
    const handle = vault.sync.open('/d/f')
    expect(() => handle.write(0, bytes('y'))).toThrow('EBADF')
    expect(() => handle.truncate(0)).toThrow('EBADF')
  })

  it('stays with a file that is renamed', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    const handle = vault.sync.open('/f', { write: true })
    await vault.rename('/f', '/g')
    await vault.write('/f', 'other')
    handle.write(0, bytes('O'))
    expect(await readText(vault, '/g')).toBe('One')
    expect((await Array.fromAsync(vault.journal())).at(-1)).toMatchObject({ op: 'patch', path: '/g' })
  })

  const large = 'x'.repeat(200_000)
  const removals: Readonly<Record<string, (vault: Vault) => void | Promise<void>>> = {
    'this face': (vault) => vault.sync.remove('/d/f'),
    'the other face': (vault) => vault.remove('/d', { recursive: true }),
    'the other face, not awaited yet': (vault) => void vault.remove('/d/f'),
    'a rename onto it': (vault) => vault.rename('/other', '/d/f', { overwrite: true }),
    'a restore': (vault) => vault.restore('before'),
  }
  for (const [who, remove] of Object.entries(removals)) {
    it(`goes on with a file that was removed by ${who}, seen by nobody else`, async () => {
      const vault = await newVault()
      await vault.checkpoint('before')
      await vault.write('/d/f', large)
      await vault.write('/other', 'other')
      const handle = vault.sync.open('/d/f', { write: true })
      const second = vault.sync.open('/d/f', { write: true })
      await using third = await vault.open('/d/f', { write: true })
      await remove(vault)
      handle.write(1, bytes('Y'))
      expect(handle.stat()).toMatchObject({ size: 200_000, nlink: 0 })
      expect(textOf(second)).toBe(`xY${large.slice(2)}`)
      await third.write(0, bytes('X'))
      second.truncate(3)
      expect(textOf(handle)).toBe('XYx')
      expect(Buffer.from(await third.read(0, 9)).toString()).toBe('XYx')
      put(vault.sync, '/new', 'new')
      put(vault.sync, '/newer', 'newer')
      expect(textOf(handle)).toBe('XYx')
      handle.close()
      second.write(3, bytes('z'))
      expect(textOf(second)).toBe('XYxz')
      expect(get(vault.sync, '/new')).toBe('new')
    })
  }

  it('never becomes another file that got its number after a restore', async () => {
    const vault = await newVault()
    await vault.checkpoint('empty')
    await vault.write('/x', 'of x')
    const first = vault.sync.open('/x', { write: true })
    await vault.checkpoint('with-x')
    const restored = [vault.restore('empty'), vault.write('/y', 'of ?')]
    first.write(0, bytes('of x'))
    await Promise.all(restored)
    put(vault.sync, '/y', 'of y')
    expect([textOf(first), first.stat().nlink]).toEqual(['of x', 0])
    const second = vault.sync.open('/y', { write: true })
    expect(second.stat().ino).toBe(first.stat().ino)
    await vault.restore('with-x')
    second.write(0, bytes('OF'))
    first.write(0, bytes('++'))
    expect([textOf(second), textOf(first), get(vault.sync, '/x')]).toEqual(['OF y', '++ x', 'of x'])
    expect(vault.sync.readdir('/')).toEqual([{ name: 'x', type: 'file' }])
  })

  it('stays with a file whose earlier name or content a restore brings back', async () => {
    const vault = await newVault()
    await vault.write('/a', 'of a')
    await vault.write('/b', 'of b')
    await vault.checkpoint('before')
    const [moved, changed] = [vault.sync.open('/a', { write: true }), vault.sync.open('/b', { write: true })]
    await vault.rename('/a', '/c')
    await vault.write('/b', 'changed')
    await vault.restore('before')
    for (const handle of [moved, changed]) handle.write(0, bytes('OF'))
    expect([get(vault.sync, '/a'), get(vault.sync, '/b')]).toEqual(['OF a', 'OF b'])
  })

  it('never becomes another file that got its number after a restore by another process', async () => {
    const file = newPlace()
    const [mine, theirs] = [file, file].map((at) => new Home(new StoreHome(new SqliteEngine({ file: at }))))
    if (mine === undefined || theirs === undefined) throw new Error('two homes were opened')
    const vault = await mine.createVault('base')
    await vault.checkpoint('empty')
    await vault.write('/x', 'of x')
    const handle = vault.sync.open('/x', { write: true })
    const other = await theirs.vault('base')
    await other.restore('empty')
    await other.write('/y', 'of y')
    handle.write(0, bytes('OF'))
    expect([textOf(handle), get(vault.sync, '/y')]).toEqual(['OF x', 'of y'])
    await mine.close()
    await theirs.close()
  })

  it('continues with a removed file of an in-memory fork', async () => {
    const fork = (await newVault()).fork()
    if (!isSynchronous(fork)) throw new Error('a fork in memory is local')
    await fork.write('/f', large)
    const handle = fork.sync.open('/f', { write: true })
    await fork.remove('/f')
    expect(handle.stat().nlink).toBe(0)
    handle.write(0, bytes('Y'))
    expect(textOf(handle)).toBe(`Y${large.slice(1)}`)
    expect(fork.sync.readdir('/')).toEqual([])
  })

  it('continues with a file that another process removed, including its earlier writes', async () => {
    const file = newPlace()
    const [mine, theirs] = [file, file].map((at) => new Home(new StoreHome(new SqliteEngine({ file: at }))))
    if (mine === undefined || theirs === undefined) throw new Error('two homes were opened')
    const vault = await mine.createVault('base')
    await vault.write('/f', 'one')
    const handle = vault.sync.open('/f', { write: true })
    const other = await theirs.vault('base')
    await other.append('/f', ' two')
    await other.remove('/f')
    await other.write('/f', 'another')
    handle.write(0, bytes('O'))
    expect(textOf(handle)).toBe('One two')
    expect(get(vault.sync, '/f')).toBe('another')
    await other.write('/g', 'g')
    const folded = vault.sync.open('/g')
    await other.remove('/g')
    for (let row = 0; row < 2100; row++) void other.write('/many', `${row}`)
    await other.checkpoint('folded')
    expect(textOf(folded)).toBe('g')
    await mine.close()
    await theirs.close()
  })
})
