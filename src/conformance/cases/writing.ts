import assert from 'node:assert/strict'
import { append, type FileSystem, hash, openFile, readFile, readText } from '../../vfs/index.ts'
import { assertBytes, assertRejects, listNames, listWalkedPaths } from '../assertions.ts'
import { type Case, largeContent } from '../subject.ts'

const WRITE = ['write'] as const
const encoder = new TextEncoder()

export const writeCases: readonly Case[] = [
  {
    name: 'write stores text, bytes and streams of both exactly',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/text', 'grüße 🎉\n')
      await assertBytes(fs, '/text', 'grüße 🎉\n')
      await fs.write('/bytes', largeContent)
      await assertBytes(fs, '/bytes', largeContent)
      await fs.write('/stream', streamParts('one ', encoder.encode('two '), 'three'))
      await assertBytes(fs, '/stream', 'one two three')
      await fs.write('/nothing', streamParts())
      await assertBytes(fs, '/nothing', '')
    },
  },
  {
    name: 'write replaces the whole content, shorter or longer',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/lines.txt', 'x')
      await assertBytes(fs, '/lines.txt', 'x')
      await fs.write('/lines.txt', largeContent)
      assert.equal((await fs.stat('/lines.txt')).size, largeContent.length)
    },
  },
  {
    name: 'a file opened to append adds to its end as it is by then, whatever position a write names',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/log', 'one ')
      const handle = await openFile(fs, '/log', { write: true, append: true })
      await handle.write(0, encoder.encode('two '))
      await append(fs, '/log', 'three ')
      await handle.write(100, encoder.encode('four '))
      await handle.close()
      const words = (await readText(fs, '/log')).split(' ')
      assert.equal(words[0], 'one')
      assert.deepEqual(words.toSorted(), ['', 'four', 'one', 'three', 'two'])
      const shortened = await openFile(fs, '/log', { write: true, append: true })
      await fs.write('/log', 'short ')
      await shortened.write(20, encoder.encode('end'))
      await shortened.close()
      await assertBytes(fs, '/log', 'short end')
    },
  },
  {
    name: 'an open file refuses positions and sizes that are no integers from 0, and keeps its content',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/large', largeContent)
      for (const path of ['/lines.txt', '/large']) {
        const before = await readFile(fs, path)
        await using handle = await openFile(fs, path, { write: true })
        for (const count of [-1, 0.5, Number.NaN]) {
          await assertRejects(() => handle.read(count, 1), 'EINVAL')
          await assertRejects(() => handle.write(count, encoder.encode('x')), 'EINVAL')
          await assertRejects(() => handle.truncate(count), 'EINVAL')
        }
        await handle.sync()
        await assertBytes(fs, path, before)
      }
    },
  },
  {
    name: 'write creates missing parents unless disabled',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/new/deep/file', 'x')
      assert.equal((await fs.stat('/new/deep')).type, 'directory')
    },
  },
  {
    name: 'write with parents: false is ENOENT where the parent is missing',
    needs: ['write', 'mkdir'],
    run: async (fs) => {
      await assertRejects(() => fs.write('/new/file', 'x', { parents: false }), 'ENOENT')
      assert.equal(await fs.exists('/new'), false)
      await fs.write('/docs/new', 'x', { parents: false })
      await assertBytes(fs, '/docs/new', 'x')
    },
  },
  {
    name: 'write onto a directory is EISDIR',
    needs: WRITE,
    run: async (fs) => {
      await assertRejects(() => fs.write('/docs', 'x'), 'EISDIR', '/docs')
      await assertRejects(() => fs.write('/', 'x'), 'EISDIR')
      await assertBytes(fs, '/docs/guide.md', '# Guide\nstart here\n')
    },
  },
  {
    name: 'write below a file is ENOTDIR, and the file stays',
    needs: WRITE,
    run: async (fs) => {
      await assertRejects(() => fs.write('/empty.txt/below', 'x'), 'ENOTDIR')
      await assertRejects(() => fs.write('/empty.txt/far/below', 'x'), 'ENOTDIR')
      assert.equal((await fs.stat('/empty.txt')).type, 'file')
    },
  },
  {
    name: 'an aborted signal ends a write at the next step of its stream, and the old content stays',
    needs: WRITE,
    run: async (fs) => {
      const controller = new AbortController()
      const content = async function* () {
        yield largeContent
        controller.abort(new Error('enough'))
        yield 'more'
      }
      const ctx = { signal: controller.signal }
      await assert.rejects(() => fs.write('/lines.txt', content(), {}, ctx), /enough/)
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
    },
  },
  {
    name: 'a relative path is EINVAL in every mutation',
    needs: WRITE,
    run: async (fs) => {
      await assertRejects(() => fs.write('file', 'x'), 'EINVAL')
      await assertRejects(() => fs.mkdir('dir'), 'EINVAL')
      await assertRejects(() => fs.remove('lines.txt'), 'EINVAL')
    },
  },
  {
    name: 'a buffer the caller changes after write does not change the file',
    needs: WRITE,
    run: async (fs) => {
      const small = encoder.encode('mine')
      const large = new Uint8Array(largeContent)
      const pending = [fs.write('/small', small), fs.write('/large', large), fs.write('/small2', small)]
      small.fill(0)
      large.fill(0)
      await Promise.all(pending)
      await assertBytes(fs, '/small', 'mine')
      await assertBytes(fs, '/small2', 'mine')
      await assertBytes(fs, '/large', largeContent)
    },
  },
  {
    name: 'a buffer reused for each chunk of a stream is stored as it was yielded',
    needs: WRITE,
    run: async (fs) => {
      const source = async function* () {
        const buffer = new Uint8Array(1)
        for (const unit of encoder.encode('reused')) {
          buffer[0] = unit
          yield buffer
        }
      }
      await fs.write('/reused', source())
      await assertBytes(fs, '/reused', 'reused')
    },
  },
  {
    name: 'a source that fails leaves the old content and nothing else behind',
    needs: WRITE,
    run: async (fs) => {
      const before = await listWalkedPaths(fs, '/', { includeDirs: true })
      const source = async function* () {
        yield 'half'
        throw new Error('the source broke')
      }
      await assert.rejects(fs.write('/lines.txt', source()), /the source broke/)
      await assert.rejects(fs.write('/fresh.txt', source()), /the source broke/)
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
      assert.deepEqual(await listWalkedPaths(fs, '/', { includeDirs: true }), before)
    },
  },
  {
    name: 'a stream opened before an overwrite or a removal finishes with the old content',
    needs: WRITE,
    run: async (fs) => {
      await assertReadsOldContent(fs, () => fs.write('/large.bin', 'new'))
      await fs.write('/large.bin', largeContent)
      await assertReadsOldContent(fs, () => fs.remove('/large.bin'))
    },
  },
  {
    name: 'a reader sees the old content or the new, never a mixture',
    needs: WRITE,
    run: async (fs) => {
      const versions = ['a', 'b', 'c'].map((letter) => letter.repeat(150_000))
      await fs.write('/shared', versions[0] ?? '')
      const writing = Promise.all(versions.map((version) => fs.write('/shared', version)))
      for (let round = 0; round < 5; round++) {
        const seen = new Set<string>()
        for await (const chunk of fs.read('/shared')) for (const unit of new Set(chunk)) seen.add(`${unit}`)
        assert.equal(seen.size, 1)
      }
      await writing
    },
  },
  {
    name: 'writes to one path take effect in the order they were issued',
    needs: WRITE,
    run: async (fs) => {
      const slow = async function* () {
        for (let round = 0; round < 20; round++) await Promise.resolve()
        yield 'slow'
      }
      const all = [
        fs.write('/f', slow()),
        fs.write('/f', 'quick'),
        fs.write('/f', slow()),
        fs.write('/f', 'last'),
      ]
      await Promise.all(all)
      await assertBytes(fs, '/f', 'last')
    },
  },
  {
    name: 'a file and one below it, written at once, cannot both be there',
    needs: WRITE,
    seed: {},
    run: async (fs) => {
      for (let delay = 0; delay < 6; delay++) {
        const late = async function* () {
          for (let turn = 0; turn < delay; turn++) await Promise.resolve()
          yield 'late'
        }
        await Promise.allSettled([fs.write(`/x${delay}`, late()), fs.write(`/x${delay}/y`, 'below')])
        const { type } = await fs.stat(`/x${delay}`)
        assert.equal(await fs.exists(`/x${delay}/y`), type === 'directory')
      }
      for await (const { path } of fs.walk('/')) assert.equal((await fs.stat(path)).type, 'file')
    },
  },
  {
    name: 'ifMatch null writes only where there is no file',
    needs: WRITE,
    run: async (fs) => {
      await fs.write('/fresh', 'first', { ifMatch: null })
      await assertRejects(() => fs.write('/fresh', 'second', { ifMatch: null }), 'ECONFLICT', '/fresh')
      await assertBytes(fs, '/fresh', 'first')
    },
  },
  {
    name: 'ifMatch with the content hash writes only over that content',
    needs: WRITE,
    run: async (fs) => {
      const seen = await hash(fs, '/lines.txt')
      await fs.write('/lines.txt', 'mine', { ifMatch: seen })
      await assertRejects(() => fs.write('/lines.txt', 'late', { ifMatch: seen }), 'ECONFLICT')
      await assertRejects(() => fs.write('/missing/file', 'x', { ifMatch: seen }), 'ECONFLICT')
      assert.equal(await fs.exists('/missing'), false)
      await assertBytes(fs, '/lines.txt', 'mine')
    },
  },
  {
    name: 'of many compare-and-swap writes at once exactly one wins',
    needs: WRITE,
    run: async (fs) => {
      const ifMatch = await hash(fs, '/lines.txt')
      const writes = Array.from({ length: 8 }, (_, i) => fs.write('/lines.txt', `writer ${i}`, { ifMatch }))
      const outcomes = await Promise.allSettled(writes)
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    },
  },
  {
    name: 'an aborted signal stops a write before it begins',
    needs: WRITE,
    run: async (fs) => {
      const ctx = { signal: AbortSignal.abort(new Error('no longer wanted')) }
      await assert.rejects(fs.write('/fresh', 'x', {}, ctx), /no longer wanted/)
      assert.equal(await fs.exists('/fresh'), false)
    },
  },
  {
    name: 'many files written at once are all there',
    needs: WRITE,
    seed: {},
    run: async (fs) => {
      const paths = Array.from({ length: 100 }, (_, i) => `/dir${i % 7}/file${i}`)
      await Promise.all(paths.map((path) => fs.write(path, path)))
      assert.deepEqual((await listWalkedPaths(fs, '/')).toSorted(), paths.toSorted())
      for (const path of paths) await assertBytes(fs, path, path)
      assert.equal((await listNames(fs, '/')).length, 7)
    },
  },
]

async function* streamParts(...parts: (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* parts
}

async function assertReadsOldContent(fs: FileSystem, change: () => Promise<void>): Promise<void> {
  const stream = fs.read('/large.bin', { chunkSize: 50_000 })[Symbol.asyncIterator]()
  const parts = [(await stream.next()).value]
  await change()
  for (let step = await stream.next(); !step.done; step = await stream.next()) parts.push(step.value)
  assert.ok(Buffer.concat(parts).equals(largeContent), 'the stream did not finish with the old content')
}
