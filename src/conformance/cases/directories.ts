import assert from 'node:assert/strict'
import { assertBytes, assertRejects, listNames, listWalkedPaths } from '../assertions.ts'
import type { Case } from '../subject.ts'

const MKDIR = ['write', 'mkdir'] as const

export const directoryCases: readonly Case[] = [
  {
    name: 'mkdir makes an empty directory',
    needs: MKDIR,
    run: async (fs) => {
      await fs.mkdir('/fresh')
      assert.equal((await fs.stat('/fresh')).type, 'directory')
      assert.deepEqual(await listNames(fs, '/fresh'), [])
      assert.ok((await listWalkedPaths(fs, '/', { includeDirs: true })).includes('/fresh'))
    },
  },
  {
    name: 'mkdir where something is already is EEXIST',
    needs: MKDIR,
    run: async (fs) => {
      await assertRejects(() => fs.mkdir('/docs'), 'EEXIST', '/docs')
      await assertRejects(() => fs.mkdir('/lines.txt'), 'EEXIST')
      await assertRejects(() => fs.mkdir('/'), 'EEXIST')
      await assertRejects(() => fs.mkdir('/lines.txt', { parents: true }), 'EEXIST')
    },
  },
  {
    name: 'mkdir below a missing directory is ENOENT, below a file ENOTDIR',
    needs: MKDIR,
    run: async (fs) => {
      await assertRejects(() => fs.mkdir('/missing/dir'), 'ENOENT')
      await assertRejects(() => fs.mkdir('/lines.txt/dir'), 'ENOTDIR')
      await assertRejects(() => fs.mkdir('/lines.txt/far/dir', { parents: true }), 'ENOTDIR')
    },
  },
  {
    name: 'mkdir with parents makes them and accepts what is there',
    needs: MKDIR,
    run: async (fs) => {
      await fs.mkdir('/a/b/c', { parents: true })
      await fs.mkdir('/a/b/c', { parents: true })
      await fs.mkdir('/docs', { parents: true })
      await fs.mkdir('/', { parents: true })
      assert.deepEqual(await listNames(fs, '/a/b'), ['c'])
      await assertBytes(fs, '/docs/guide.md', '# Guide\nstart here\n')
    },
  },
  {
    name: 'remove takes a file away and leaves its neighbours',
    needs: ['write'],
    run: async (fs) => {
      await fs.remove('/docs/deep/a.txt')
      assert.equal(await fs.exists('/docs/deep/a.txt'), false)
      assert.deepEqual(await listNames(fs, '/docs/deep'), ['b.txt'])
    },
  },
  {
    name: 'remove of a missing path is ENOENT',
    needs: ['write'],
    run: async (fs) => {
      await assertRejects(() => fs.remove('/missing'), 'ENOENT', '/missing')
      await assertRejects(() => fs.remove('/missing', { recursive: true }), 'ENOENT')
    },
  },
  {
    name: 'remove of a directory without recursive is EISDIR, even if it is empty',
    needs: MKDIR,
    run: async (fs) => {
      await fs.mkdir('/bare')
      await assertRejects(() => fs.remove('/docs'), 'EISDIR', '/docs')
      await assertRejects(() => fs.remove('/bare'), 'EISDIR')
      assert.equal(await fs.exists('/docs/guide.md'), true)
    },
  },
  {
    name: 'remove with recursive takes all below, and nothing beside',
    needs: ['write'],
    run: async (fs) => {
      await fs.remove('/docs', { recursive: true })
      assert.equal(await fs.exists('/docs'), false)
      assert.equal(await fs.exists('/docs/deep/a.txt'), false)
      assert.deepEqual(await listWalkedPaths(fs, '/docs'), [])
      assert.equal(await fs.exists('/docsx/twin.txt'), true)
    },
  },
  {
    name: 'the root cannot be removed',
    needs: ['write'],
    run: async (fs) => {
      await assertRejects(() => fs.remove('/', { recursive: true }), 'EINVAL')
      assert.equal(await fs.exists('/lines.txt'), true)
    },
  },
  {
    name: 'a removed directory made anew is empty',
    needs: MKDIR,
    run: async (fs) => {
      await fs.remove('/docs', { recursive: true })
      await fs.mkdir('/docs')
      assert.deepEqual(await listNames(fs, '/docs'), [])
      assert.equal(await fs.exists('/docs/deep/a.txt'), false)
      await fs.write('/docs/deep/c.txt', 'gamma')
      assert.deepEqual(await listWalkedPaths(fs, '/docs'), ['/docs/deep/c.txt'])
    },
  },
  {
    name: 'a file may take the place of a directory, and a directory of a file',
    needs: MKDIR,
    run: async (fs) => {
      await fs.remove('/docs', { recursive: true })
      await fs.write('/docs', 'a file now')
      await assertBytes(fs, '/docs', 'a file now')
      assert.equal(await fs.exists('/docs/guide.md'), false)
      await fs.remove('/lines.txt')
      await fs.write('/lines.txt/inside', 'a directory now')
      assert.deepEqual(await listNames(fs, '/lines.txt'), ['inside'])
      await fs.remove('/docs')
      await fs.mkdir('/docs')
      assert.deepEqual(await listNames(fs, '/docs'), [])
    },
  },
]
