import assert from 'node:assert/strict'
import {
  type CallContext,
  type ErrorCode,
  type FileSystem,
  isForkable,
  isSynchronous,
  isVfsError,
  readText,
  type SyncFileHandle,
  type SyncFileSystem,
  type Synchronous,
} from '../../vfs/index.ts'
import { assertBytes, listNames } from '../assertions.ts'
import { type Case, largeContent } from '../subject.ts'
import { createProtocolCase } from './protocol-case.ts'

const NEEDS: NonNullable<Case['needs']> = ['sync', 'write']
const noFollow: CallContext = { links: 'refuse' }

const faceCases: readonly Case[] = [
  createSyncCase('each face sees at once what the other did', NEEDS, async (sync, fs) => {
    await fs.write('/made/by-async', 'x')
    assert.equal(readTextSync(sync, '/made/by-async'), 'x')
    writeText(sync, '/made/by-sync', 'y')
    assert.equal(await readText(fs, '/made/by-sync'), 'y')
    sync.rename('/made', '/moved')
    assert.deepEqual(await listNames(fs, '/moved'), ['by-async', 'by-sync'])
    await fs.remove('/moved/by-async')
    assert.deepEqual(sync.readdir('/moved'), [{ name: 'by-sync', type: 'file' }])
    sync.remove('/moved', { recursive: true })
    assert.equal(await fs.exists('/moved'), false)
  }),
  createSyncCase(
    'stat returns the same as the other face, and the identity of the file',
    ['sync'],
    async (sync, fs) => {
      for (const path of ['/', '/docs', '/unicode.txt']) {
        const { ino, nlink, ...stat } = sync.stat(path)
        assert.deepEqual(stat, await fs.stat(path))
        assert.ok(Number.isSafeInteger(ino) && nlink >= 1)
      }
      assert.notEqual(sync.stat('/lines.txt').ino, sync.stat('/empty.txt').ino)
      assert.equal(sync.stat('/lines.txt').ino, sync.stat('/docs/../lines.txt').ino)
    },
  ),
  createSyncCase('readdir lists in order what the other face lists', ['sync'], async (sync, fs) => {
    assert.deepEqual(sync.readdir('/'), await Array.fromAsync(fs.readdir('/')))
  }),
  createSyncCase('errors are those of the other face', NEEDS, async (sync) => {
    assertFails(() => sync.stat('/missing'), 'ENOENT', '/missing')
    assertFails(() => sync.stat('lines.txt'), 'EINVAL')
    assertFails(() => sync.readdir('/missing'), 'ENOENT')
    assertFails(() => sync.readdir('/lines.txt'), 'ENOTDIR')
    assertFails(() => sync.open('/missing'), 'ENOENT')
    assertFails(() => sync.open('/docs'), 'EISDIR')
    assertFails(() => sync.open('/', { write: true }), 'EISDIR')
    assertFails(() => sync.open('/lines.txt/below', { write: true, create: true }), 'ENOTDIR')
    assertFails(() => sync.mkdir('/docs'), 'EEXIST')
    assertFails(() => sync.mkdir('/'), 'EEXIST')
    assertFails(() => sync.mkdir('/missing/below'), 'ENOENT')
    assertFails(() => sync.remove('/docs'), 'EISDIR')
    assertFails(() => sync.remove('/missing'), 'ENOENT')
    assertFails(() => sync.remove('/', { recursive: true }), 'EINVAL')
    assertFails(() => sync.rename('/missing', '/x'), 'ENOENT')
    assertFails(() => sync.rename('/lines.txt', '/empty.txt'), 'EEXIST')
    assertFails(() => sync.rename('/docs', '/docs/deep/docs'), 'EINVAL')
    assert.throws(
      () => sync.stat('/lines.txt', { signal: AbortSignal.abort(new Error('unwanted')) }),
      /unwanted/,
    )
  }),
  createSyncCase('mkdir makes parents if asked to, rmdir removes what is empty', NEEDS, async (sync) => {
    sync.mkdir('/made/for/it', { parents: true, mode: 0o700 })
    assert.equal(sync.stat('/made/for/it').mode, 0o700)
    sync.mkdir('/made/for/it', { parents: true })
    assertFails(() => sync.rmdir('/made'), 'ENOTEMPTY')
    assertFails(() => sync.rmdir('/lines.txt'), 'ENOTDIR')
    assertFails(() => sync.rmdir('/missing'), 'ENOENT')
    assertFails(() => sync.rmdir('/'), 'EINVAL')
    sync.rmdir('/made/for/it')
    assert.deepEqual(sync.readdir('/made/for'), [])
  }),
  createSyncCase('links are made, read, followed and refused', [...NEEDS, 'link'], async (sync) => {
    sync.symlink('docs', '/papers')
    sync.symlink('circle', '/circle')
    assert.equal(sync.readlink('/papers'), 'docs')
    assert.equal(sync.stat('/papers').type, 'symlink')
    assert.equal(sync.realpath('/papers/guide.md'), '/docs/guide.md')
    assert.equal(sync.realpath('/papers', { followLast: true }), '/docs')
    assert.equal(readTextSync(sync, '/papers/guide.md'), '# Guide\nstart here\n')
    assertFails(() => sync.open('/circle'), 'ELOOP')
    assertFails(() => sync.readlink('/lines.txt'), 'EINVAL')
    assertFails(() => sync.symlink('x', '/papers'), 'EEXIST')
    assertFails(() => sync.rmdir('/papers'), 'ENOTDIR')
    assertFails(() => sync.stat('/papers/guide.md', noFollow), 'ELOOP')
    assertFails(() => sync.open('/papers/guide.md', { write: true }, noFollow), 'ELOOP')
    assertFails(() => sync.remove('/papers/guide.md', {}, noFollow), 'ELOOP')
    assertFails(() => sync.mkdir('/papers/new', {}, noFollow), 'ELOOP')
    assertFails(() => sync.rename('/lines.txt', '/papers/lines', {}, noFollow), 'ELOOP')
    sync.remove('/papers')
    assert.equal(sync.stat('/docs/guide.md').type, 'file')
  }),
  createSyncCase(
    'attributes and second names are given here too',
    [...NEEDS, 'setattr', 'hardlink'],
    async (sync) => {
      const mtime = new Date('2001-02-03T04:05:06Z')
      sync.link('/lines.txt', '/docs/second')
      sync.setattr('/docs/second', { mode: 0o600, mtime })
      const { ino, nlink, mode, ...stat } = sync.stat('/lines.txt')
      assert.deepEqual([nlink, mode, stat.mtime], [2, 0o600, mtime])
      assert.equal(sync.stat('/docs/second').ino, ino)
      writeText(sync, '/docs/second', 'shared')
      assert.equal(readTextSync(sync, '/lines.txt'), 'shared')
      assertFails(() => sync.link('/docs', '/more'), 'EISDIR')
      assertFails(() => sync.link('/lines.txt', '/empty.txt'), 'EEXIST')
      assertFails(() => sync.setattr('/missing', { mode: 0 }), 'ENOENT')
    },
  ),
]

const readOnlyCases: readonly Case[] = [
  {
    ...createSyncCase('what cannot be written answers every change with EROFS', ['sync'], async (sync) => {
      assertFails(() => sync.open('/lines.txt', { write: true }), 'EROFS')
      assertFails(() => sync.open('/fresh', { create: true }), 'EROFS')
      assertFails(() => sync.open('/lines.txt', { truncate: true }), 'EROFS')
      assertFails(() => sync.mkdir('/fresh'), 'EROFS')
      assertFails(() => sync.remove('/lines.txt'), 'EROFS')
      assertFails(() => sync.rmdir('/docs'), 'EROFS')
      assertFails(() => sync.rename('/lines.txt', '/fresh'), 'EROFS')
      assertFails(() => sync.symlink('x', '/fresh'), 'EROFS')
      assertFails(() => sync.link('/lines.txt', '/fresh'), 'EROFS')
      assertFails(() => sync.setattr('/lines.txt', { mode: 0o600 }), 'EROFS')
      assert.equal(readTextSync(sync, '/lines.txt'), 'one\ntwo\nthree\nfour\n')
    }),
    without: ['write'],
  },
]

const handleCases: readonly Case[] = [
  createSyncCase('a handle reads any part, less only at the end', ['sync'], async (sync) => {
    const handle = sync.open('/large.bin')
    assert.deepEqual(handle.read(70_000, 100), largeContent.slice(70_000, 70_100))
    assert.deepEqual(handle.read(199_990, 100), largeContent.slice(199_990))
    assert.equal(handle.read(300_000, 10).length, 0)
    assert.equal(handle.stat().size, 200_000)
    handle.read(0, 10).fill(1)
    assert.deepEqual(handle.read(0, 10), largeContent.slice(0, 10))
    handle.close()
  }),
  createSyncCase('a handle writes any part, and what is between becomes zeros', NEEDS, async (sync, fs) => {
    const handle = sync.open('/fresh/file', { write: true, create: true })
    handle.write(0, encodeText('abcdef'))
    handle.write(2, encodeText('XY'))
    assert.equal(await readText(fs, '/fresh/file'), 'abXYef')
    handle.truncate(3)
    handle.write(5, encodeText('z'))
    assert.equal(await readText(fs, '/fresh/file'), 'abX\0\0z')
    handle.truncate(8)
    assert.equal(readHandleText(handle), 'abX\0\0z\0\0')
    handle.sync()
    assert.equal(handle.stat().size, 8)
    handle.truncate(0)
    assert.equal(handle.stat().size, 0)
    handle.close()
  }),
  createSyncCase(
    'the bytes written are those of the call, whatever becomes of the buffer',
    NEEDS,
    async (sync) => {
      const handle = sync.open('/file', { write: true, create: true })
      const buffer = encodeText('mine')
      handle.write(0, buffer)
      buffer.fill(0)
      assert.equal(readHandleText(handle), 'mine')
      handle.close()
    },
  ),
  createSyncCase('a handle that appends writes at the end as it is by then', NEEDS, async (sync, fs) => {
    const [one, other] = [1, 2].map(() => sync.open('/log', { write: true, create: true, append: true }))
    one?.write(0, encodeText('one '))
    other?.write(0, encodeText('two '))
    one?.write(1, encodeText('three'))
    assert.equal(await readText(fs, '/log'), 'one two three')
    other?.truncate(3)
    one?.write(13, encodeText('.'))
    assert.equal(await readText(fs, '/log'), 'one.')
    one?.close()
    other?.close()
  }),
  createSyncCase('truncate empties what is opened; create alone does not', NEEDS, async (sync) => {
    sync.open('/lines.txt', { write: true, create: true }).close()
    assert.equal(sync.stat('/lines.txt').size, 19)
    sync.open('/lines.txt', { write: true, truncate: true }).close()
    assert.equal(sync.stat('/lines.txt').size, 0)
  }),
  createSyncCase(
    'a handle for reading does not write, a closed one does nothing: EBADF',
    NEEDS,
    async (sync) => {
      const handle = sync.open('/lines.txt')
      assertFails(() => handle.write(0, encodeText('x')), 'EBADF')
      assertFails(() => handle.truncate(0), 'EBADF')
      assertFails(() => handle.read(-1, 1), 'EINVAL')
      handle.close()
      handle.close()
      assertFails(() => handle.read(0, 1), 'EBADF')
      assertFails(() => handle.stat(), 'EBADF')
      assert.equal(sync.stat('/lines.txt').size, 19)
    },
  ),
  createSyncCase(
    'a handle follows its file when that is renamed, and keeps it when it is removed',
    NEEDS,
    async (sync, fs) => {
      const [handle, other] = [sync.open('/docs/guide.md', { write: true }), sync.open('/docs/guide.md')]
      sync.rename('/docs', '/papers')
      handle.write(0, encodeText('!'))
      assert.equal(await readText(fs, '/papers/guide.md'), '! Guide\nstart here\n')
      await fs.remove('/papers', { recursive: true })
      await fs.write('/papers/guide.md', 'another')
      handle.write(0, encodeText('?'))
      assert.equal(readHandleText(other), '? Guide\nstart here\n')
      assert.equal(handle.stat().nlink, 0)
      await assertBytes(fs, '/papers/guide.md', 'another')
      handle.close()
      other.close()
    },
  ),
  createSyncCase('a handle keeps a file that another took the name of', NEEDS, async (sync, fs) => {
    const handle = sync.open('/lines.txt', { write: true })
    sync.rename('/docs/guide.md', '/lines.txt', { overwrite: true })
    handle.write(0, encodeText('ONE'))
    assert.equal(readHandleText(handle), 'ONE\ntwo\nthree\nfour\n')
    await assertBytes(fs, '/lines.txt', '# Guide\nstart here\n')
    handle.close()
  }),
  createSyncCase('a handle sees what others write to its file', NEEDS, async (sync, fs) => {
    const [handle, other] = [sync.open('/lines.txt'), sync.open('/lines.txt', { write: true })]
    await fs.write('/lines.txt', 'whole')
    assert.equal(readHandleText(handle), 'whole')
    other.write(1, encodeText('H'))
    assert.equal(readHandleText(handle), 'wHole')
    other.close()
    handle.close()
  }),
  createSyncCase('a stream that was begun finishes with the old content', NEEDS, async (sync, fs) => {
    const handle = sync.open('/large.bin', { write: true })
    handle.write(0, encodeText('begun'))
    const stream = fs.read('/large.bin')[Symbol.asyncIterator]()
    const first = await stream.next()
    handle.write(150_000, new Uint8Array(50_000))
    handle.write(0, encodeText('later'))
    const rest: Uint8Array[] = [first.value ?? assert.fail('the stream is empty')]
    for (let step = await stream.next(); !step.done; step = await stream.next()) rest.push(step.value)
    const expected = Buffer.from(largeContent)
    expected.write('begun')
    assert.ok(Buffer.concat(rest).equals(expected))
    handle.close()
  }),
  createSyncCase(
    'a fork does not see what is written through a handle later',
    [...NEEDS, 'fork'],
    async (sync, fs) => {
      assert.ok(isForkable(fs))
      const handle = sync.open('/lines.txt', { write: true })
      handle.write(0, encodeText('ONE'))
      const fork = fs.fork()
      handle.write(4, encodeText('TWO'))
      handle.write(19, encodeText('five\n'))
      await assertBytes(fork, '/lines.txt', 'ONE\ntwo\nthree\nfour\n')
      await fork.write('/lines.txt', 'forked')
      await assertBytes(fs, '/lines.txt', 'ONE\nTWO\nthree\nfour\nfive\n')
      handle.close()
    },
  ),
]

export const synchronousCases: readonly Case[] = [...faceCases, ...readOnlyCases, ...handleCases]

function createSyncCase(
  name: string,
  needs: Case['needs'],
  run: (sync: SyncFileSystem, fs: FileSystem & Synchronous) => Promise<void>,
): Case {
  return createProtocolCase(name, isSynchronous, needs, (fs) => run(fs.sync, fs))
}

function assertFails(action: () => unknown, code: ErrorCode, path?: string): void {
  assert.throws(action, (error) => {
    assert.ok(isVfsError(error), `expected ${code}, got ${String(error)}`)
    assert.equal(error.code, code)
    if (path !== undefined) assert.equal(error.path, path)
    return true
  })
}

function encodeText(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

function readHandleText(handle: SyncFileHandle): string {
  return Buffer.from(handle.read(0, handle.stat().size)).toString()
}

function writeText(sync: SyncFileSystem, path: string, content: string): void {
  const handle = sync.open(path, { write: true, create: true, truncate: true })
  handle.write(0, encodeText(content))
  handle.close()
}

function readTextSync(sync: SyncFileSystem, path: string): string {
  const handle = sync.open(path)
  try {
    return readHandleText(handle)
  } finally {
    handle.close()
  }
}
