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
import { assertBytes, names } from '../expect.ts'
import { type Case, largeContent } from '../subject.ts'
import { rule } from './protocol-rule.ts'

const NEEDS: NonNullable<Case['needs']> = ['sync', 'write']
const refusing: CallContext = { links: 'refuse' }

const faceCases: readonly Case[] = [
  syncRule('each face sees at once what the other did', NEEDS, async (sync, fs) => {
    await fs.write('/made/by-async', 'x')
    assert.equal(textOf(sync, '/made/by-async'), 'x')
    put(sync, '/made/by-sync', 'y')
    assert.equal(await readText(fs, '/made/by-sync'), 'y')
    sync.rename('/made', '/moved')
    assert.deepEqual(await names(fs, '/moved'), ['by-async', 'by-sync'])
    await fs.remove('/moved/by-async')
    assert.deepEqual(sync.readdir('/moved'), [{ name: 'by-sync', type: 'file' }])
    sync.remove('/moved', { recursive: true })
    assert.equal(await fs.exists('/moved'), false)
  }),
  syncRule('stat tells what the other face does, and which file it is', ['sync'], async (sync, fs) => {
    for (const path of ['/', '/docs', '/unicode.txt']) {
      const { ino, nlink, ...stat } = sync.stat(path)
      assert.deepEqual(stat, await fs.stat(path))
      assert.ok(Number.isSafeInteger(ino) && nlink >= 1)
    }
    assert.notEqual(sync.stat('/lines.txt').ino, sync.stat('/empty.txt').ino)
    assert.equal(sync.stat('/lines.txt').ino, sync.stat('/docs/../lines.txt').ino)
  }),
  syncRule('readdir lists in order what the other face lists', ['sync'], async (sync, fs) => {
    assert.deepEqual(sync.readdir('/'), await Array.fromAsync(fs.readdir('/')))
  }),
  syncRule('errors are those of the other face', NEEDS, async (sync) => {
    fails(() => sync.stat('/missing'), 'ENOENT', '/missing')
    fails(() => sync.stat('lines.txt'), 'EINVAL')
    fails(() => sync.readdir('/missing'), 'ENOENT')
    fails(() => sync.readdir('/lines.txt'), 'ENOTDIR')
    fails(() => sync.open('/missing'), 'ENOENT')
    fails(() => sync.open('/docs'), 'EISDIR')
    fails(() => sync.open('/', { write: true }), 'EISDIR')
    fails(() => sync.open('/lines.txt/below', { write: true, create: true }), 'ENOTDIR')
    fails(() => sync.mkdir('/docs'), 'EEXIST')
    fails(() => sync.mkdir('/'), 'EEXIST')
    fails(() => sync.mkdir('/missing/below'), 'ENOENT')
    fails(() => sync.remove('/docs'), 'EISDIR')
    fails(() => sync.remove('/missing'), 'ENOENT')
    fails(() => sync.remove('/', { recursive: true }), 'EINVAL')
    fails(() => sync.rename('/missing', '/x'), 'ENOENT')
    fails(() => sync.rename('/lines.txt', '/empty.txt'), 'EEXIST')
    fails(() => sync.rename('/docs', '/docs/deep/docs'), 'EINVAL')
    assert.throws(
      () => sync.stat('/lines.txt', { signal: AbortSignal.abort(new Error('unwanted')) }),
      /unwanted/,
    )
  }),
  syncRule('mkdir makes parents if asked to, rmdir removes what is empty', NEEDS, async (sync) => {
    sync.mkdir('/made/for/it', { parents: true, mode: 0o700 })
    assert.equal(sync.stat('/made/for/it').mode, 0o700)
    sync.mkdir('/made/for/it', { parents: true })
    fails(() => sync.rmdir('/made'), 'ENOTEMPTY')
    fails(() => sync.rmdir('/lines.txt'), 'ENOTDIR')
    fails(() => sync.rmdir('/missing'), 'ENOENT')
    fails(() => sync.rmdir('/'), 'EINVAL')
    sync.rmdir('/made/for/it')
    assert.deepEqual(sync.readdir('/made/for'), [])
  }),
  syncRule('links are made, read, followed and refused', [...NEEDS, 'link'], async (sync) => {
    sync.symlink('docs', '/papers')
    sync.symlink('circle', '/circle')
    assert.equal(sync.readlink('/papers'), 'docs')
    assert.equal(sync.stat('/papers').type, 'symlink')
    assert.equal(sync.realpath('/papers/guide.md'), '/docs/guide.md')
    assert.equal(sync.realpath('/papers', { followLast: true }), '/docs')
    assert.equal(textOf(sync, '/papers/guide.md'), '# Guide\nstart here\n')
    fails(() => sync.open('/circle'), 'ELOOP')
    fails(() => sync.readlink('/lines.txt'), 'EINVAL')
    fails(() => sync.symlink('x', '/papers'), 'EEXIST')
    fails(() => sync.rmdir('/papers'), 'ENOTDIR')
    fails(() => sync.stat('/papers/guide.md', refusing), 'ELOOP')
    fails(() => sync.open('/papers/guide.md', { write: true }, refusing), 'ELOOP')
    fails(() => sync.remove('/papers/guide.md', {}, refusing), 'ELOOP')
    fails(() => sync.mkdir('/papers/new', {}, refusing), 'ELOOP')
    fails(() => sync.rename('/lines.txt', '/papers/lines', {}, refusing), 'ELOOP')
    sync.remove('/papers')
    assert.equal(sync.stat('/docs/guide.md').type, 'file')
  }),
  syncRule(
    'attributes and second names are given here too',
    [...NEEDS, 'setattr', 'hardlink'],
    async (sync) => {
      const mtime = new Date('2001-02-03T04:05:06Z')
      sync.link('/lines.txt', '/docs/second')
      sync.setattr('/docs/second', { mode: 0o600, mtime })
      const { ino, nlink, mode, ...stat } = sync.stat('/lines.txt')
      assert.deepEqual([nlink, mode, stat.mtime], [2, 0o600, mtime])
      assert.equal(sync.stat('/docs/second').ino, ino)
      put(sync, '/docs/second', 'shared')
      assert.equal(textOf(sync, '/lines.txt'), 'shared')
      fails(() => sync.link('/docs', '/more'), 'EISDIR')
      fails(() => sync.link('/lines.txt', '/empty.txt'), 'EEXIST')
      fails(() => sync.setattr('/missing', { mode: 0 }), 'ENOENT')
    },
  ),
]

const readOnlyCases: readonly Case[] = [
  {
    ...syncRule('what cannot be written answers every change with EROFS', ['sync'], async (sync) => {
      fails(() => sync.open('/lines.txt', { write: true }), 'EROFS')
      fails(() => sync.open('/fresh', { create: true }), 'EROFS')
      fails(() => sync.open('/lines.txt', { truncate: true }), 'EROFS')
      fails(() => sync.mkdir('/fresh'), 'EROFS')
      fails(() => sync.remove('/lines.txt'), 'EROFS')
      fails(() => sync.rmdir('/docs'), 'EROFS')
      fails(() => sync.rename('/lines.txt', '/fresh'), 'EROFS')
      fails(() => sync.symlink('x', '/fresh'), 'EROFS')
      fails(() => sync.link('/lines.txt', '/fresh'), 'EROFS')
      fails(() => sync.setattr('/lines.txt', { mode: 0o600 }), 'EROFS')
      assert.equal(textOf(sync, '/lines.txt'), 'one\ntwo\nthree\nfour\n')
    }),
    without: ['write'],
  },
]

const handleCases: readonly Case[] = [
  syncRule('a handle reads any part, less only at the end', ['sync'], async (sync) => {
    const handle = sync.open('/large.bin')
    assert.deepEqual(handle.read(70_000, 100), largeContent.slice(70_000, 70_100))
    assert.deepEqual(handle.read(199_990, 100), largeContent.slice(199_990))
    assert.equal(handle.read(300_000, 10).length, 0)
    assert.equal(handle.stat().size, 200_000)
    handle.read(0, 10).fill(1)
    assert.deepEqual(handle.read(0, 10), largeContent.slice(0, 10))
    handle.close()
  }),
  syncRule('a handle writes any part, and what is between becomes zeros', NEEDS, async (sync, fs) => {
    const handle = sync.open('/fresh/file', { write: true, create: true })
    handle.write(0, bytes('abcdef'))
    handle.write(2, bytes('XY'))
    assert.equal(await readText(fs, '/fresh/file'), 'abXYef')
    handle.truncate(3)
    handle.write(5, bytes('z'))
    assert.equal(await readText(fs, '/fresh/file'), 'abX\0\0z')
    handle.truncate(8)
    assert.equal(text(handle), 'abX\0\0z\0\0')
    handle.sync()
    assert.equal(handle.stat().size, 8)
    handle.truncate(0)
    assert.equal(handle.stat().size, 0)
    handle.close()
  }),
  syncRule('the bytes written are those of the call, whatever becomes of the buffer', NEEDS, async (sync) => {
    const handle = sync.open('/file', { write: true, create: true })
    const buffer = bytes('mine')
    handle.write(0, buffer)
    buffer.fill(0)
    assert.equal(text(handle), 'mine')
    handle.close()
  }),
  syncRule('a handle that appends writes at the end as it is by then', NEEDS, async (sync, fs) => {
    const [one, other] = [1, 2].map(() => sync.open('/log', { write: true, create: true, append: true }))
    one?.write(0, bytes('one '))
    other?.write(0, bytes('two '))
    one?.write(1, bytes('three'))
    assert.equal(await readText(fs, '/log'), 'one two three')
    other?.truncate(3)
    one?.write(13, bytes('.'))
    assert.equal(await readText(fs, '/log'), 'one.')
    one?.close()
    other?.close()
  }),
  syncRule('truncate empties what is opened; create alone does not', NEEDS, async (sync) => {
    sync.open('/lines.txt', { write: true, create: true }).close()
    assert.equal(sync.stat('/lines.txt').size, 19)
    sync.open('/lines.txt', { write: true, truncate: true }).close()
    assert.equal(sync.stat('/lines.txt').size, 0)
  }),
  syncRule('a handle for reading does not write, a closed one does nothing: EBADF', NEEDS, async (sync) => {
    const handle = sync.open('/lines.txt')
    fails(() => handle.write(0, bytes('x')), 'EBADF')
    fails(() => handle.truncate(0), 'EBADF')
    fails(() => handle.read(-1, 1), 'EINVAL')
    handle.close()
    handle.close()
    fails(() => handle.read(0, 1), 'EBADF')
    fails(() => handle.stat(), 'EBADF')
    assert.equal(sync.stat('/lines.txt').size, 19)
  }),
  syncRule(
    'a handle follows its file when that is renamed, and keeps it when it is removed',
    NEEDS,
    async (sync, fs) => {
      const [handle, other] = [sync.open('/docs/guide.md', { write: true }), sync.open('/docs/guide.md')]
      sync.rename('/docs', '/papers')
      handle.write(0, bytes('!'))
      assert.equal(await readText(fs, '/papers/guide.md'), '! Guide\nstart here\n')
      await fs.remove('/papers', { recursive: true })
      await fs.write('/papers/guide.md', 'another')
      handle.write(0, bytes('?'))
      assert.equal(text(other), '? Guide\nstart here\n')
      assert.equal(handle.stat().nlink, 0)
      await assertBytes(fs, '/papers/guide.md', 'another')
      handle.close()
      other.close()
    },
  ),
  syncRule('a handle keeps a file that another took the name of', NEEDS, async (sync, fs) => {
    const handle = sync.open('/lines.txt', { write: true })
    sync.rename('/docs/guide.md', '/lines.txt', { overwrite: true })
    handle.write(0, bytes('ONE'))
    assert.equal(text(handle), 'ONE\ntwo\nthree\nfour\n')
    await assertBytes(fs, '/lines.txt', '# Guide\nstart here\n')
    handle.close()
  }),
  syncRule('a handle sees what others write to its file', NEEDS, async (sync, fs) => {
    const [handle, other] = [sync.open('/lines.txt'), sync.open('/lines.txt', { write: true })]
    await fs.write('/lines.txt', 'whole')
    assert.equal(text(handle), 'whole')
    other.write(1, bytes('H'))
    assert.equal(text(handle), 'wHole')
    other.close()
    handle.close()
  }),
  syncRule('a stream that was begun finishes with the old content', NEEDS, async (sync, fs) => {
    const handle = sync.open('/large.bin', { write: true })
    handle.write(0, bytes('begun'))
    const stream = fs.read('/large.bin')[Symbol.asyncIterator]()
    const first = await stream.next()
    handle.write(150_000, new Uint8Array(50_000))
    handle.write(0, bytes('later'))
    const rest: Uint8Array[] = [first.value ?? assert.fail('the stream is empty')]
    for (let step = await stream.next(); !step.done; step = await stream.next()) rest.push(step.value)
    const expected = Buffer.from(largeContent)
    expected.write('begun')
    assert.ok(Buffer.concat(rest).equals(expected))
    handle.close()
  }),
  syncRule(
    'a fork does not see what is written through a handle later',
    [...NEEDS, 'fork'],
    async (sync, fs) => {
      assert.ok(isForkable(fs))
      const handle = sync.open('/lines.txt', { write: true })
      handle.write(0, bytes('ONE'))
      const fork = fs.fork()
      handle.write(4, bytes('TWO'))
      handle.write(19, bytes('five\n'))
      await assertBytes(fork, '/lines.txt', 'ONE\ntwo\nthree\nfour\n')
      await fork.write('/lines.txt', 'forked')
      await assertBytes(fs, '/lines.txt', 'ONE\nTWO\nthree\nfour\nfive\n')
      handle.close()
    },
  ),
]

export const synchronousCases: readonly Case[] = [...faceCases, ...readOnlyCases, ...handleCases]

function syncRule(
  name: string,
  needs: Case['needs'],
  run: (sync: SyncFileSystem, fs: FileSystem & Synchronous) => Promise<void>,
): Case {
  return rule(name, isSynchronous, needs, (fs) => run(fs.sync, fs))
}

function fails(action: () => unknown, code: ErrorCode, path?: string): void {
  assert.throws(action, (error) => {
    assert.ok(isVfsError(error), `expected ${code}, got ${String(error)}`)
    assert.equal(error.code, code)
    if (path !== undefined) assert.equal(error.path, path)
    return true
  })
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

function text(handle: SyncFileHandle): string {
  return Buffer.from(handle.read(0, handle.stat().size)).toString()
}

function put(sync: SyncFileSystem, path: string, content: string): void {
  const handle = sync.open(path, { write: true, create: true, truncate: true })
  handle.write(0, bytes(content))
  handle.close()
}

function textOf(sync: SyncFileSystem, path: string): string {
  const handle = sync.open(path)
  try {
    return text(handle)
  } finally {
    handle.close()
  }
}
