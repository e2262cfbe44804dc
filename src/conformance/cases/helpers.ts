import assert from 'node:assert/strict'
import {
  append,
  copy,
  diff,
  du,
  type FileSystem,
  glob,
  grep,
  hash,
  MemoryFs,
  mapReduce,
  move,
  readText,
  tail,
  tree,
} from '../../vfs/index.ts'
import { assertBytes, assertRejects, listWalkedPaths } from '../assertions.ts'
import { type Case, largeContent, standardSeed } from '../subject.ts'

export const helperCases: readonly Case[] = [
  {
    name: 'copy copies a file and a tree, and refuses to overwrite by default',
    needs: ['write', 'mkdir'],
    run: async (fs) => {
      await copy(fs, '/large.bin', '/copies/large.bin')
      await assertBytes(fs, '/copies/large.bin', largeContent)
      await copy(fs, '/docs', '/copies/docs')
      assert.equal((await listWalkedPaths(fs, '/copies/docs')).length, 3)
      await assertRejects(() => copy(fs, '/lines.txt', '/empty.txt'), 'EEXIST')
      await copy(fs, '/lines.txt', '/empty.txt', { overwrite: true })
      await assertBytes(fs, '/empty.txt', 'one\ntwo\nthree\nfour\n')
      await assertRejects(() => copy(fs, '/missing', '/x'), 'ENOENT')
    },
  },
  {
    name: 'copy or move into its own descendant is EINVAL and damages nothing',
    needs: ['write', 'mkdir'],
    run: async (fs) => {
      await assertRejects(() => copy(fs, '/docs', '/docs/deep/again'), 'EINVAL')
      await assertRejects(() => move(fs, '/docs', '/docs/deep/again'), 'EINVAL')
      assert.deepEqual((await listWalkedPaths(fs, '/')).toSorted(), Object.keys(standardSeed).sort())
    },
  },
  {
    name: 'move moves a file and a tree, natively or not',
    needs: ['write', 'mkdir'],
    run: async (fs) => {
      await move(fs, '/docs', '/papers/2026')
      await move(fs, '/lines.txt', '/papers/lines.txt')
      assert.equal((await listWalkedPaths(fs, '/papers')).length, 4)
      assert.equal(await fs.exists('/docs'), false)
      await assertRejects(() => move(fs, '/papers/lines.txt', '/empty.txt'), 'EEXIST')
      await move(fs, '/papers/lines.txt', '/empty.txt', { overwrite: true })
      await assertRejects(() => move(fs, '/missing', '/x'), 'ENOENT')
    },
  },
  {
    name: 'append, natively or not, loses nothing to others at the same time',
    needs: ['write'],
    run: async (fs) => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => append(fs, '/log', `${i}\n`)))
      assert.equal((await readText(fs, '/log')).trimEnd().split('\n').length, 20)
    },
  },
  {
    name: 'grep, glob, tail, du, tree and hash agree with the content',
    run: async (fs) => {
      const found = await Array.fromAsync(grep(fs, '/', 'alpha'))
      assert.deepEqual(found, [{ path: '/docs/deep/a.txt', line: 1, text: 'alpha', before: [], after: [] }])
      const texts = await Array.fromAsync(glob(fs, '/docs/**/*.txt'))
      assert.deepEqual(
        texts.map(({ path }) => path),
        ['/docs/deep/a.txt', '/docs/deep/b.txt'],
      )
      assert.equal(await tail(fs, '/lines.txt', 2), 'three\nfour\n')
      assert.deepEqual(await du(fs, '/docs'), { files: 3, directories: 1, bytes: 30 })
      assert.equal(await tree(fs, '/docs'), '/docs/\n├── deep/\n│   ├── a.txt\n│   └── b.txt\n└── guide.md')
      assert.equal((await hash(fs, '/empty.txt')).slice(0, 8), 'e3b0c442')
    },
  },
  {
    name: 'grep skips binary files',
    seed: { '/binary': Uint8Array.of(0, 97, 98, 99), '/text': 'abc' },
    run: async (fs) => {
      const found = await Array.fromAsync(grep(fs, '/', 'abc'))
      assert.deepEqual(
        found.map(({ path }) => path),
        ['/text'],
      )
    },
  },
  {
    name: 'diff against a plain copy of the same content finds nothing, and then each change',
    needs: ['write'],
    run: async (fs) => {
      const before = new MemoryFs(standardSeed)
      assert.deepEqual(await listChangedPaths(before, fs), [])
      await fs.write('/lines.txt', 'one\ntwo\nthree\nfour\n')
      await fs.write('/docs/guide.md', 'new')
      await fs.remove('/docs/deep', { recursive: true })
      await fs.write('/fresh/file', 'x')
      assert.deepEqual(await listChangedPaths(before, fs), [
        'deleted /docs/deep/a.txt',
        'deleted /docs/deep/b.txt',
        'modified /docs/guide.md',
        'added /fresh/file',
      ])
    },
  },
  {
    name: 'mapReduce maps every file once',
    run: async (fs) => {
      const total = await mapReduce(
        fs,
        '/',
        async (_entry, content) =>
          (await Array.fromAsync(content)).reduce((sum, chunk) => sum + chunk.length, 0),
        (sum, size) => sum + size,
        0,
        { concurrency: 3 },
      )
      assert.equal(total, (await du(fs, '/')).bytes)
    },
  },
]

/** Lists kinds and paths, without modes, which not every file system stores. */
async function listChangedPaths(before: FileSystem, after: FileSystem): Promise<string[]> {
  const changes = await Array.fromAsync(diff(before, after))
  return changes.map(({ kind, path }) => `${kind} ${path}`)
}
