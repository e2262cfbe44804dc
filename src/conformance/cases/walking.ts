import assert from 'node:assert/strict'
import { listWalkedPaths } from '../assertions.ts'
import { type Case, standardSeed } from '../subject.ts'

export const walkCases: readonly Case[] = [
  {
    name: 'walk meets every file once, depth first, with its stat',
    run: async (fs) => {
      const paths = await listWalkedPaths(fs, '/')
      assert.deepEqual(paths.toSorted(), Object.keys(standardSeed).sort())
      for await (const { path, stat } of fs.walk('/')) assert.deepEqual(stat, await fs.stat(path))
    },
  },
  {
    name: 'what walk yields can be read back',
    run: async (fs) => {
      for await (const { path } of fs.walk('/')) {
        let size = 0
        for await (const chunk of fs.read(path)) size += chunk.length
        assert.equal(size, (await fs.stat(path)).size, path)
      }
    },
  },
  {
    name: 'includeDirs adds directories, each before what it holds and not the root',
    run: async (fs) => {
      const paths = await listWalkedPaths(fs, '/docs', { includeDirs: true })
      assert.deepEqual(paths.toSorted(), [
        '/docs/deep',
        '/docs/deep/a.txt',
        '/docs/deep/b.txt',
        '/docs/guide.md',
      ])
      assert.ok(paths.indexOf('/docs/deep') < paths.indexOf('/docs/deep/a.txt'))
    },
  },
  {
    name: 'the files of a directory come together, not between others',
    run: async (fs) => {
      const paths = await listWalkedPaths(fs, '/')
      const inside = paths.map((path) => path.startsWith('/docs/'))
      assert.equal(inside.lastIndexOf(true) - inside.indexOf(true) + 1, 3)
    },
  },
  {
    name: 'maxDepth counts from the root of the walk: 0 nothing, 1 the children',
    run: async (fs) => {
      assert.deepEqual(await listWalkedPaths(fs, '/docs', { maxDepth: 0 }), [])
      assert.deepEqual(await listWalkedPaths(fs, '/docs', { maxDepth: 1 }), ['/docs/guide.md'])
      assert.deepEqual((await listWalkedPaths(fs, '/docs', { maxDepth: 1, includeDirs: true })).toSorted(), [
        '/docs/deep',
        '/docs/guide.md',
      ])
      assert.equal((await listWalkedPaths(fs, '/docs', { maxDepth: 2 })).length, 3)
    },
  },
  {
    name: 'a missing root is empty',
    run: async (fs) => assert.deepEqual(await listWalkedPaths(fs, '/missing', { includeDirs: true }), []),
  },
  {
    name: 'a walk below a directory does not stray into its name twin',
    run: async (fs) => assert.deepEqual(await listWalkedPaths(fs, '/docsx'), ['/docsx/twin.txt']),
  },
  {
    name: 'a walk left early is over',
    run: async (fs) => {
      let steps = 0
      for await (const _ of fs.walk('/')) if (++steps === 2) break
      assert.equal(steps, 2)
    },
  },
  {
    name: 'an aborted signal ends a walk at the next step',
    run: async (fs) => {
      const controller = new AbortController()
      const walk = async () => {
        let steps = 0
        for await (const _ of fs.walk('/', {}, { signal: controller.signal })) {
          if (++steps === 2) controller.abort(new Error('enough'))
          assert.ok(steps < 3, 'the walk went on after the abort')
        }
      }
      await assert.rejects(walk, /enough/)
    },
  },
]
