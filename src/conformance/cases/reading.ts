import assert from 'node:assert/strict'
import { readFile, readText } from '../../vfs/index.ts'
import { assertBytes, assertRejects } from '../assertions.ts'
import { type Case, largeContent, unicodeContent } from '../subject.ts'

export const readCases: readonly Case[] = [
  {
    name: 'read gives the whole content',
    run: async (fs) => {
      await assertBytes(fs, '/large.bin', largeContent)
      await assertBytes(fs, '/unicode.txt', unicodeContent)
      await assertBytes(fs, '/empty.txt', '')
    },
  },
  {
    name: 'an empty file yields no chunk',
    run: async (fs) => {
      for await (const _ of fs.read('/empty.txt')) assert.fail('there is nothing to yield')
    },
  },
  {
    name: 'every chunk but the last has exactly the size asked for',
    run: async (fs) => {
      for (const chunkSize of [1000, 4096, 65_536, 199_999, 200_000, 300_000]) {
        const sizes: number[] = []
        for await (const chunk of fs.read('/large.bin', { chunkSize })) sizes.push(chunk.length)
        const last = sizes.pop() ?? 0
        assert.ok(sizes.every((size) => size === chunkSize) && last > 0 && last <= chunkSize, `${chunkSize}`)
        assert.equal(sizes.length * chunkSize + last, largeContent.length)
      }
    },
  },
  {
    name: 'chunks are of 64 KiB when no size is given',
    run: async (fs) => {
      for await (const chunk of fs.read('/large.bin')) {
        assert.equal(chunk.length, 64 * 1024)
        break
      }
    },
  },
  {
    name: 'characters and line ends survive chunk borders',
    run: async (fs) => {
      for (let chunkSize = 1; chunkSize < 12; chunkSize++) {
        assert.equal(await readText(fs, '/unicode.txt', { chunkSize }), unicodeContent)
      }
    },
  },
  {
    name: 'a chunk size that is not an integer above 0 is EINVAL',
    run: async (fs) => {
      for (const chunkSize of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assertRejects(() => fs.read('/lines.txt', { chunkSize }), 'EINVAL')
      }
    },
  },
  {
    name: 'a byte range is clamped to the file',
    run: async (fs) => {
      const range = (start: number, length: number) =>
        readText(fs, '/lines.txt', { byteRange: [start, length] })
      assert.equal(await range(4, 3), 'two')
      assert.equal(await range(0, 0), '')
      assert.equal(await range(14, 1000), 'four\n')
      assert.equal(await range(19, 5), '')
      assert.equal(await range(1000, 5), '')
    },
  },
  {
    name: 'a negative or fractional byte range is EINVAL',
    run: async (fs) => {
      await assertRejects(() => fs.read('/lines.txt', { byteRange: [-1, 2] }), 'EINVAL')
      await assertRejects(() => fs.read('/lines.txt', { byteRange: [0, -2] }), 'EINVAL')
      await assertRejects(() => fs.read('/lines.txt', { byteRange: [0.5, 2] }), 'EINVAL')
    },
  },
  {
    name: 'a line range counts from 1 and leaves out the last newline; end keeps it',
    run: async (fs) => {
      const lines = (first: number, last: number | 'end') =>
        readText(fs, '/lines.txt', { lineRange: [first, last] })
      assert.equal(await lines(2, 3), 'two\nthree')
      assert.equal(await lines(1, 1), 'one')
      assert.equal(await lines(4, 4), 'four')
      assert.equal(await lines(3, 99), 'three\nfour')
      assert.equal(await lines(3, 'end'), 'three\nfour\n')
      assert.equal(await lines(5, 'end'), '')
      assert.equal(await lines(50, 60), '')
    },
  },
  {
    name: 'a line range that starts before 1 or ends before it starts is EINVAL',
    run: async (fs) => {
      await assertRejects(() => fs.read('/lines.txt', { lineRange: [0, 2] }), 'EINVAL')
      await assertRejects(() => fs.read('/lines.txt', { lineRange: [3, 2] }), 'EINVAL')
      await assertRejects(() => fs.read('/lines.txt', { lineRange: [1.5, 2] }), 'EINVAL')
    },
  },
  {
    name: 'bytes are cut first, then lines, then chunks',
    run: async (fs) => {
      const options = { byteRange: [4, 10], lineRange: [2, 'end'], chunkSize: 2 } as const
      const chunks: string[] = []
      for await (const chunk of fs.read('/lines.txt', options)) chunks.push(Buffer.from(chunk).toString())
      assert.deepEqual(chunks, ['th', 're', 'e\n'])
    },
  },
  {
    name: 'a missing file is ENOENT and a directory EISDIR, before the first chunk',
    run: async (fs) => {
      await assertRejects(() => fs.read('/missing'), 'ENOENT', '/missing')
      await assertRejects(() => fs.read('/docs'), 'EISDIR', '/docs')
      await assertRejects(() => fs.read('/'), 'EISDIR')
    },
  },
  {
    name: 'changing a chunk that was given does not change the file',
    run: async (fs) => {
      for await (const chunk of fs.read('/lines.txt')) chunk.fill(0)
      ;(await readFile(fs, '/lines.txt')).fill(0)
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
    },
  },
  {
    name: 'two streams of one file do not disturb each other, and one left early does no harm',
    run: async (fs) => {
      const first = fs.read('/large.bin', { chunkSize: 1000 })[Symbol.asyncIterator]()
      await first.next()
      await assertBytes(fs, '/large.bin', largeContent)
      await first.return?.()
      await assertBytes(fs, '/large.bin', largeContent)
    },
  },
  {
    name: 'an aborted signal ends a read at the next step',
    run: async (fs) => {
      const controller = new AbortController()
      const read = async () => {
        let steps = 0
        for await (const _ of fs.read('/large.bin', { chunkSize: 1000 }, { signal: controller.signal })) {
          if (++steps === 2) controller.abort(new Error('enough'))
          assert.ok(steps < 3, 'the read went on after the abort')
        }
      }
      await assert.rejects(read, /enough/)
    },
  },
]
