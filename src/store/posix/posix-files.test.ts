import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isVfsError } from '../../vfs/index.ts'
import { encodeChecksummedJson } from '../checksummed-json.ts'
import {
  CHUNK_BYTES,
  DelayedEngine,
  type Engine,
  fsck,
  MemoryEngine,
  quotaKey,
  SqliteEngine,
  StoreHome,
} from '../index.ts'
import type { Timestamp } from '../tree/tree-values.ts'
import { type PosixAttributes, PosixFiles } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-posix-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const ROOT = PosixFiles.root
const OWNER = { mode: 0o644, uid: 1000, gid: 100 }
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

async function newFiles(
  engine: Engine = new MemoryEngine(),
): Promise<{ home: StoreHome; posix: PosixFiles }> {
  const home = new StoreHome(engine)
  return { home, posix: new PosixFiles(await home.createVault('base'), home.blobs) }
}

function codeOf(work: () => unknown): string {
  try {
    work()
    return 'done'
  } catch (error) {
    if (isVfsError(error)) return error.code
    throw error
  }
}

function namesIn(posix: PosixFiles, ino = ROOT): string[] {
  return posix.readdir(ino).map(({ name }) => name)
}

describe('attributes', () => {
  it('say what a thing is, as C does', async () => {
    const { posix } = await newFiles()
    const modeOf = (ino: number) => posix.getattr(ino).mode.toString(8)
    expect(modeOf(ROOT)).toBe('40755')
    expect(modeOf(posix.create(ROOT, 'f', { ...OWNER, mode: 0o4755 }))).toBe('104755')
    expect(modeOf(posix.symlink(ROOT, 's', 'f', OWNER))).toBe('120777')
    expect(modeOf(posix.mknod(ROOT, 'pipe', { ...OWNER, mode: 0o010600 }))).toBe('10600')
    const device = posix.mknod(ROOT, 'null', { ...OWNER, mode: 0o020666 }, 259)
    expect(posix.getattr(device)).toMatchObject({
      type: 'other',
      mode: 0o020666,
      rdev: 259,
      uid: 1000,
      gid: 100,
    })
    posix.setattr(device, { mode: 0o600, uid: 5 })
    expect(posix.getattr(device)).toMatchObject({ mode: 0o020600, rdev: 259, uid: 5, gid: 100 })
    expect(codeOf(() => posix.mknod(ROOT, 'd', { ...OWNER, mode: 0o040755 }))).toBe('EPERM')
    for (const format of [0o030000, 0o070000, 0o110000, 0o120000, 0o150000, 0o170000])
      expect(codeOf(() => posix.mknod(ROOT, 'd', { ...OWNER, mode: format | 0o644 }))).toBe('EINVAL')
    expect(posix.getattr(posix.mknod(ROOT, 'socket', { ...OWNER, mode: 0o140600 }, 7))).toMatchObject({
      mode: 0o140600,
      rdev: 0,
    })
    expect(codeOf(() => posix.getattr(999))).toBe('ENOENT')
  })

  it('inherit the group of a directory that says so', async () => {
    const { posix } = await newFiles()
    const shared = posix.mkdir(ROOT, 'shared', { mode: 0o2775, uid: 1, gid: 50 })
    expect(posix.getattr(posix.create(shared, 'f', OWNER))).toMatchObject({ gid: 50, mode: 0o100644 })
    expect(posix.getattr(posix.mkdir(shared, 'd', OWNER))).toMatchObject({ gid: 50, mode: 0o042644 })
  })

  it('have times before the epoch and to the nanosecond', async () => {
    const { posix } = await newFiles()
    const times = { atime: { seconds: -5, nanos: 999_999_999 }, mtime: { seconds: 2 ** 33, nanos: 1 } }
    posix.setattr(ROOT, times)
    expect(posix.getattr(ROOT)).toMatchObject(times)
  })
})

describe('times', () => {
  const now = () => Math.floor(Date.now() / 1000)
  let clock = 1_700_000_000
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => vi.useRealTimers())

  /** Which of a thing's times an action changes: all of them are in the past before it. */
  function changedBy(posix: PosixFiles, ino: number, act: () => void): string {
    vi.setSystemTime(++clock * 1000)
    act()
    const isNow = ({ seconds }: Timestamp) => seconds === now()
    const { atime, mtime, ctime }: PosixAttributes = posix.getattr(ino)
    const names = [isNow(atime) && 'atime', isNow(mtime) && 'mtime', isNow(ctime) && 'ctime']
    return names.filter((name) => name !== false).join(' ')
  }

  it('change as POSIX says', async () => {
    const { posix } = await newFiles()
    vi.setSystemTime(clock * 1000)
    const d = posix.mkdir(ROOT, 'd', OWNER)
    const f = posix.create(ROOT, 'f', OWNER)
    const g = posix.create(ROOT, 'g', OWNER)
    expect(changedBy(posix, f, () => posix.write(f, 0, Buffer.from('x')))).toBe('mtime ctime')
    expect(changedBy(posix, f, () => posix.write(f, 9, Buffer.alloc(0)))).toBe('')
    expect(changedBy(posix, f, () => posix.setattr(f, { size: 1 }))).toBe('mtime ctime')
    expect(changedBy(posix, f, () => posix.read(f, 0, 1))).toBe('')
    expect(changedBy(posix, f, () => posix.setattr(f, { mode: 0o600 }))).toBe('ctime')
    expect(changedBy(posix, f, () => posix.setattr(f, {}))).toBe('ctime')
    expect(changedBy(posix, f, () => posix.setattr(f, { atime: 'now' }))).toBe('atime ctime')
    expect(changedBy(posix, f, () => posix.setxattr(f, 'user.a', Buffer.from('x')))).toBe('ctime')
    expect(changedBy(posix, f, () => posix.removexattr(f, 'user.a'))).toBe('ctime')
    expect(changedBy(posix, f, () => posix.link(f, d, 'f2'))).toBe('ctime')
    expect(changedBy(posix, d, () => posix.unlink(d, 'f2'))).toBe('mtime ctime')
    expect(changedBy(posix, f, () => posix.rename(ROOT, 'f', d, 'f'))).toBe('ctime')
    expect(changedBy(posix, d, () => posix.rename(d, 'f', ROOT, 'f'))).toBe('mtime ctime')
    expect(changedBy(posix, ROOT, () => posix.rename(ROOT, 'f', d, 'f'))).toBe('mtime ctime')
    expect(changedBy(posix, g, () => posix.rename(ROOT, 'g', d, 'f', 'exchange'))).toBe('ctime')
    expect(changedBy(posix, d, () => posix.create(d, 'new', OWNER))).toBe('mtime ctime')
    expect(changedBy(posix, d, () => posix.setattr(d, { mtime: { seconds: 1, nanos: 0 } }))).toBe('ctime')
  })
})

describe('names', () => {
  it('may be anything a directory can hold, and nothing else', async () => {
    const { posix } = await newFiles()
    const longest = `${'é'.repeat(127)}x`
    for (const name of [longest, '.x', '...', 'a\nb', '%_"\'', '😀', 'A', 'a', '__proto__', '\\']) {
      expect(posix.lookup(ROOT, name)).toBe(undefined)
      expect(posix.create(ROOT, name, OWNER)).toBe(posix.lookup(ROOT, name))
    }
    const refused = ['', '.', '..', 'a/b', 'a\0', `${longest}x`, '\ud800'].map((name) =>
      codeOf(() => posix.create(ROOT, name, OWNER)),
    )
    expect(refused).toEqual(['ENOENT', 'EINVAL', 'EINVAL', 'EINVAL', 'EINVAL', 'ENAMETOOLONG', 'EINVAL'])
    const file = posix.lookup(ROOT, 'a') ?? 0
    expect(codeOf(() => posix.lookup(file, 'x'))).toBe('ENOTDIR')
    expect(codeOf(() => posix.readdir(file))).toBe('ENOTDIR')
    expect(codeOf(() => posix.lookup(12345, 'x'))).toBe('ENOENT')
  })

  it('are listed once each while others come and go', async () => {
    const { posix } = await newFiles()
    for (const name of ['b', 'd', 'f', 'h']) posix.create(ROOT, name, OWNER)
    const seen: string[] = []
    for (let some = posix.readdir(ROOT, undefined, 1); some[0]; some = posix.readdir(ROOT, seen.at(-1), 1)) {
      const { name } = some[0]
      seen.push(name)
      posix.unlink(ROOT, name)
      if (name === 'd') posix.create(ROOT, 'a', OWNER)
      if (name === 'd') posix.create(ROOT, 'e', OWNER)
    }
    expect(seen).toEqual(['b', 'd', 'e', 'f', 'h'])
    expect(namesIn(posix)).toEqual(['a'])
  })

  it('lead to links that keep their target to the letter', async () => {
    const { posix } = await newFiles()
    const link = posix.symlink(ROOT, 'l', '../é//x', OWNER)
    expect(posix.readlink(link)).toBe('../é//x')
    expect(posix.getattr(link).size).toBe(8)
    expect(codeOf(() => posix.readlink(ROOT))).toBe('EINVAL')
    expect(codeOf(() => posix.symlink(ROOT, 'm', '', OWNER))).toBe('ENOENT')
    expect(codeOf(() => posix.symlink(ROOT, 'm', 'x'.repeat(4096), OWNER))).toBe('ENAMETOOLONG')
  })
})

describe('without a name', () => {
  it('a file and a directory live until they are released as often as they were opened', async () => {
    const { home, posix } = await newFiles()
    const file = posix.create(ROOT, 'f', OWNER)
    const directory = posix.mkdir(ROOT, 'd', OWNER)
    for (const ino of [file, file, directory]) posix.open(ino)
    posix.unlink(ROOT, 'f')
    posix.rmdir(ROOT, 'd')
    posix.write(file, 0, Buffer.from('still here'))
    expect(text(posix.read(file, 0, 100))).toBe('still here')
    expect(posix.getattr(file).nlink).toBe(0)
    expect(codeOf(() => posix.create(directory, 'x', OWNER))).toBe('ENOENT')
    expect((await fsck(home)).damaged).toEqual([])
    for (const ino of [file, directory]) posix.release(ino)
    expect(posix.getattr(file).size).toBe(10)
    expect(codeOf(() => posix.getattr(directory))).toBe('ENOENT')
    posix.release(file)
    expect(codeOf(() => posix.getattr(file))).toBe('ENOENT')
    expect((await fsck(home)).damaged).toEqual([])
  })

  it('a new file can be filled, and then be named', async () => {
    const { home, posix } = await newFiles()
    const [kept, lost] = [posix.tmpfile(ROOT, OWNER), posix.tmpfile(ROOT, OWNER)]
    posix.write(kept, 0, Buffer.from('x'))
    expect(namesIn(posix)).toEqual([])
    posix.link(kept, ROOT, 'named')
    for (const ino of [kept, lost]) posix.release(ino)
    expect(posix.lookup(ROOT, 'named')).toBe(kept)
    expect(posix.getattr(kept)).toMatchObject({ nlink: 1, size: 1 })
    expect(codeOf(() => posix.getattr(lost))).toBe('ENOENT')
    expect((await fsck(home)).damaged).toEqual([])
  })

  it('what a crash left over is reaped, and what is open here is not', async () => {
    const engine = new MemoryEngine()
    const { posix: crashed } = await newFiles(engine)
    const left = crashed.tmpfile(ROOT, OWNER)
    const home = new StoreHome(engine)
    const posix = new PosixFiles(await home.openVault('base'), home.blobs)
    const own = posix.tmpfile(ROOT, OWNER)
    expect(posix.reapUnlinked()).toBe(1)
    expect(codeOf(() => posix.getattr(left))).toBe('ENOENT')
    expect(posix.getattr(own).nlink).toBe(0)
    expect(posix.reapUnlinked()).toBe(0)
  })
})

describe('a name that cannot be created', () => {
  const calls: Readonly<Record<string, (posix: PosixFiles, parent: number, name: string) => unknown>> = {
    create: (posix, parent, name) => posix.create(parent, name, OWNER),
    mkdir: (posix, parent, name) => posix.mkdir(parent, name, OWNER),
    symlink: (posix, parent, name) => posix.symlink(parent, name, 'target', OWNER),
    mknod: (posix, parent, name) => posix.mknod(parent, name, { ...OWNER, mode: 0o010600 }),
    'mknod of a file': (posix, parent, name) => posix.mknod(parent, name, OWNER),
    link: (posix, parent, name) => posix.link(posix.lookup(ROOT, 'taken') ?? 0, parent, name),
  }

  it.each(Object.entries(calls))('is reported as a failed %s', async (call, attempt) => {
    const { posix } = await newFiles()
    const file = posix.create(ROOT, 'taken', OWNER)
    const [op] = call.split(' ')
    expect(() => attempt(posix, ROOT, 'taken')).toThrow(
      expect.objectContaining({ code: 'EEXIST', path: '/taken', op }),
    )
    expect(() => attempt(posix, ROOT, 'a/b')).toThrow(expect.objectContaining({ code: 'EINVAL', op }))
    expect(() => attempt(posix, file, 'below')).toThrow(expect.objectContaining({ op }))
  })
})

describe('a sparse file', () => {
  it('takes room only where something was written', async () => {
    const { home, posix } = await newFiles()
    const ino = posix.create(ROOT, 'f', OWNER)
    posix.setattr(ino, { size: 2 ** 40 })
    expect(posix.getattr(ino)).toMatchObject({ size: 2 ** 40, blocks: 0 })
    const at = 2 ** 39
    posix.write(ino, at, Buffer.from('data'))
    expect(posix.getattr(ino).blocks).toBe(CHUNK_BYTES / 512)
    expect(posix.seek(ino, 0, 'data')).toBe(at)
    expect(posix.seek(ino, at + 2, 'data')).toBe(at + 2)
    expect(posix.seek(ino, at, 'hole')).toBe(at + CHUNK_BYTES)
    expect(posix.seek(ino, at + CHUNK_BYTES, 'data')).toBe(null)
    expect(posix.seek(ino, 2 ** 40, 'hole')).toBe(null)
    posix.punchHole(ino, at, CHUNK_BYTES)
    expect(posix.getattr(ino)).toMatchObject({ size: 2 ** 40, blocks: 0 })
    expect((await fsck(home)).damaged).toEqual([])
  })

  it('reaches as far as was allocated', async () => {
    const { posix } = await newFiles()
    const ino = posix.create(ROOT, 'f', OWNER)
    posix.allocate(ino, 0, 100, { keepSize: true })
    expect(posix.getattr(ino).size).toBe(0)
    posix.allocate(ino, 50, 100)
    posix.allocate(ino, 0, 100)
    expect(posix.getattr(ino).size).toBe(150)
    expect(codeOf(() => posix.allocate(ino, 0, 0))).toBe('EINVAL')
    expect(codeOf(() => posix.write(ino, -1, Buffer.from('x')))).toBe('EINVAL')
    expect(codeOf(() => posix.write(ino, 2 ** 44, Buffer.from('x')))).toBe('EFBIG')
    expect(codeOf(() => posix.setattr(ino, { size: 2 ** 60 }))).toBe('EFBIG')
    expect(codeOf(() => posix.setattr(ROOT, { size: 0 }))).toBe('EISDIR')
    expect(codeOf(() => posix.read(ROOT, 0, 1))).toBe('EISDIR')
    expect(codeOf(() => posix.write(posix.symlink(ROOT, 's', 'x', OWNER), 0, Buffer.from('x')))).toBe(
      'EINVAL',
    )
  })

  it('shows nothing of an earlier life in its holes', async () => {
    const { home, posix } = await newFiles()
    const log = await home.openVault('base')
    const ino = posix.create(ROOT, 'f', OWNER)
    posix.write(ino, 0, Buffer.alloc(300, 9))
    posix.setattr(ino, { size: 301 })
    // As an append by path may leave it: in one blob, though there are chunks.
    const blob = home.blobs.put(Buffer.alloc(302, 9))
    log.submitSync(() => ({ op: 'extend', path: '/f', size: 302, kept: 0, chunks: [blob] }))
    posix.setattr(ino, { size: 0 })
    posix.write(ino, CHUNK_BYTES, Buffer.from('x'))
    expect(posix.read(ino, 0, CHUNK_BYTES).every((byte) => byte === 0)).toBe(true)
  })
})

describe('extended attributes', () => {
  it('are set as asked, listed and removed', async () => {
    const { posix } = await newFiles()
    const set = (name: string, value: string, mode?: 'create' | 'replace') =>
      codeOf(() => posix.setxattr(ROOT, name, Buffer.from(value), mode))
    expect(set('user.b', '1', 'replace')).toBe('ENODATA')
    expect(set('user.b', '1', 'create')).toBe('done')
    expect(set('user.b', '2', 'create')).toBe('EEXIST')
    expect(set('user.b', '3', 'replace')).toBe('done')
    expect(set('user.a', '')).toBe('done')
    expect(set('x'.repeat(256), '')).toBe('EINVAL')
    expect(set('user.c', 'x'.repeat(65_537))).toBe('EINVAL')
    expect(posix.listxattr(ROOT)).toEqual(['user.a', 'user.b'])
    expect([text(posix.getxattr(ROOT, 'user.b')), text(posix.getxattr(ROOT, 'user.a'))]).toEqual(['3', ''])
    posix.removexattr(ROOT, 'user.b')
    expect(posix.getxattr(ROOT, 'user.b')).toBe(undefined)
    expect(codeOf(() => posix.removexattr(ROOT, 'user.b'))).toBe('ENODATA')
    expect(codeOf(() => posix.getxattr(99, 'user.b'))).toBe('ENOENT')
  })
})

describe('a batch', () => {
  it('is one row of the journal, and seen at once inside', async () => {
    const { home, posix } = await newFiles()
    const log = await home.openVault('base')
    const before = log.seq
    let size = 0
    posix.batch(() => {
      const ino = posix.create(ROOT, 'f', OWNER)
      posix.write(ino, 0, Buffer.alloc(40_000, 1))
      posix.write(ino, 40_000, Buffer.alloc(40_000, 2))
      posix.batch(() => posix.rename(ROOT, 'f', ROOT, 'g'))
      expect(codeOf(() => posix.mkdir(ROOT, 'g', OWNER))).toBe('EEXIST')
      expect(namesIn(posix)).toEqual(['g'])
      size = posix.getattr(ino).size
      posix.fsync()
    })
    expect(size).toBe(80_000)
    expect(log.seq).toBe(before + 1)
    const [entry] = log.journal.readAfter(before)
    const operations = entry?.operation.op === 'batch' ? entry.operation.operations : []
    expect(operations.map(({ op, path }) => [op, path])).toEqual([
      ['create', '/f'],
      ['patch', '/f'],
      ['move', '/f'],
    ])
    expect((await fsck(home)).damaged).toEqual([])
  })

  it('keeps the order of what is done to a file', async () => {
    const { posix } = await newFiles()
    const mtime = { seconds: 5, nanos: 0 }
    const [early, late] = ['early', 'late'].map((name) => posix.create(ROOT, name, OWNER))
    posix.batch(() => {
      posix.write(late ?? 0, 0, Buffer.from('a'))
      posix.setattr(late ?? 0, { mtime })
      posix.write(early ?? 0, 0, Buffer.from('a'))
      posix.setattr(early ?? 0, { mtime })
      posix.write(early ?? 0, 1, Buffer.from('b'))
    })
    expect(posix.getattr(late ?? 0).mtime).toEqual(mtime)
    expect(posix.getattr(early ?? 0).mtime).not.toEqual(mtime)
    expect(text(posix.read(early ?? 0, 0, 9))).toBe('ab')
  })

  it('that throws has done nothing, and opened nothing', async () => {
    const { home, posix } = await newFiles()
    const file = posix.create(ROOT, 'f', OWNER)
    const work = () =>
      posix.batch(() => {
        posix.open(file)
        posix.unlink(ROOT, 'f')
        posix.rmdir(ROOT, 'nothing')
      })
    expect(codeOf(work)).toBe('ENOENT')
    expect(namesIn(posix)).toEqual(['f'])
    posix.unlink(ROOT, 'f')
    expect(codeOf(() => posix.getattr(file))).toBe('ENOENT')
    expect((await fsck(home)).damaged).toEqual([])
  })

  it('is done again on what another process has committed meanwhile', async () => {
    const file = join(scratch, 'shared')
    const homes = [file, file].map((place) => new StoreHome(new SqliteEngine({ file: place })))
    const [first, second] = homes
    if (first === undefined || second === undefined) throw new Error('there are two')
    const posix = new PosixFiles(await first.createVault('base'), first.blobs)
    const other = new PosixFiles(await second.openVault('base'), second.blobs)
    const made: number[] = []
    posix.batch(() => {
      if (made.length === 0) other.write(other.create(ROOT, 'theirs', OWNER), 0, Buffer.from('theirs'))
      made.push(posix.create(ROOT, 'ours', OWNER))
      posix.write(made.at(-1) ?? 0, 0, Buffer.from('ours'))
    })
    for (const side of [posix, other]) {
      expect(namesIn(side)).toEqual(['ours', 'theirs'])
      for (const name of namesIn(side))
        expect(text(side.read(side.lookup(ROOT, name) ?? 0, 0, 10))).toBe(name)
    }
    expect(made.length).toBe(2)
    expect(posix.lookup(ROOT, 'ours')).toBe(made.at(-1))
    for (const home of homes) await home.close()
  })

  it('refuses what goes beyond the quota, and does the rest', async () => {
    const { home, posix } = await newFiles()
    const { head } = await home.openVault('base')
    const records = [{ key: quotaKey(head.id), bytes: encodeChecksummedJson({ bytes: 1000, files: 2 }) }]
    await home.engine.commit({ records })
    posix.batch(() => {
      const ino = posix.create(ROOT, 'f', OWNER)
      posix.write(ino, 0, Buffer.alloc(600))
      expect(codeOf(() => posix.write(ino, 600, Buffer.alloc(600)))).toBe('ENOSPC')
      expect(posix.getattr(ino).size).toBe(600)
      posix.create(ROOT, 'g', OWNER)
      expect(codeOf(() => posix.create(ROOT, 'h', OWNER))).toBe('ENOSPC')
    })
    expect(namesIn(posix)).toEqual(['f', 'g'])
    expect(posix.statfs()).toMatchObject({ files: 2, freeFiles: 0, freeBlocks: 0, blocks: 1 })
  })
})

describe('the whole', () => {
  it('has room, and a name of 255 bytes', async () => {
    const { posix } = await newFiles()
    expect(posix.statfs()).toMatchObject({ blockSize: 4096, nameBytes: 255 })
    expect(posix.statfs().freeBlocks).toBeGreaterThan(2 ** 28)
    expect(posix.getParent(posix.mkdir(ROOT, 'd', OWNER))).toBe(ROOT)
    posix.fsync()
  })

  it('reports a sync inside a batch when the batch is durable', async () => {
    const home = new StoreHome(new MemoryEngine())
    const log = await home.createVault('base')
    let syncs = 0
    const posix = new PosixFiles(log, home.blobs, { onSync: () => syncs++ })
    posix.batch(() => {
      posix.create(ROOT, 'f', OWNER)
      posix.fsync()
      expect(syncs).toBe(0)
    })
    expect(syncs).toBe(1)
    posix.fsync()
    expect(syncs).toBe(2)
  })

  it('is refused on an engine that lets callers wait', async () => {
    const home = new StoreHome(new DelayedEngine(new MemoryEngine()))
    const log = await home.createVault('base')
    expect(codeOf(() => new PosixFiles(log, home.blobs))).toBe('ENOTSUP')
  })
})

describe('reads that run together', () => {
  it('see one state of the home, and the next reads what others committed', async () => {
    const file = join(scratch, 'together.db')
    await using engine = new SqliteEngine({ file })
    const { posix } = await newFiles(engine)
    await using otherEngine = new SqliteEngine({ file })
    const otherHome = new StoreHome(otherEngine)
    const other = new PosixFiles(await otherHome.openVault('base'), otherHome.blobs)
    posix.create(ROOT, 'first', OWNER)
    posix.readTogether(() => {
      expect(namesIn(posix)).toEqual(['first'])
      other.create(ROOT, 'second', OWNER)
      expect(namesIn(posix)).toEqual(['first'])
    })
    expect(namesIn(posix)).toEqual(['first', 'second'])
  })

  it('may change the vault, which ends it', async () => {
    const file = join(scratch, 'together-change.db')
    await using engine = new SqliteEngine({ file })
    const { posix } = await newFiles(engine)
    await using otherEngine = new SqliteEngine({ file })
    const otherHome = new StoreHome(otherEngine)
    const other = new PosixFiles(await otherHome.openVault('base'), otherHome.blobs)
    posix.readTogether(() => {
      expect(namesIn(posix)).toEqual([])
      other.create(ROOT, 'theirs', OWNER)
      posix.readTogether(() => posix.create(ROOT, 'ours', OWNER))
      posix.fsync()
      expect(namesIn(posix)).toEqual(['ours', 'theirs'])
    })
    expect(namesIn(other)).toEqual(['ours', 'theirs'])
    expect(codeOf(() => posix.readTogether(() => posix.getattr(999)))).toBe('ENOENT')
    posix.unlink(ROOT, 'ours')
    expect(namesIn(other)).toEqual(['theirs'])
  })

  it('compare content by its reference', async () => {
    const { posix } = await newFiles()
    const write = (name: string, fill: string) => {
      const ino = posix.create(ROOT, name, OWNER)
      posix.write(ino, 0, Buffer.alloc(1000, fill))
      return posix.getContentReference(ino)
    }
    const [one, same, another] = [write('one', 'a'), write('same', 'a'), write('another', 'b')]
    expect(one).toBeDefined()
    expect(same?.checksum).toBe(one?.checksum)
    expect(another?.checksum).not.toBe(one?.checksum)
    expect(posix.getContentReference(posix.create(ROOT, 'empty', OWNER))).toBeUndefined()
  })
})
