import assert from 'node:assert/strict'
import { assertRejects } from '../assertions.ts'
import type { Case } from '../subject.ts'

export const statCases: readonly Case[] = [
  {
    name: 'the root is always a directory',
    seed: {},
    run: async (fs) => {
      const { type, size } = await fs.stat('/')
      assert.deepEqual({ type, size }, { type: 'directory', size: 0 })
      assert.equal(await fs.exists('/'), true)
    },
  },
  {
    name: 'a file has its size in bytes, a real date and a mode or null',
    run: async (fs) => {
      const { type, size, mtime, mode } = await fs.stat('/unicode.txt')
      assert.equal(type, 'file')
      assert.equal(size, Buffer.byteLength('grüße, 日本語 🎉\r\nzweite Zeile\r\n'))
      assert.ok(mtime instanceof Date && !Number.isNaN(mtime.getTime()))
      assert.ok(mode === null || Number.isInteger(mode))
    },
  },
  {
    name: 'a directory has size 0',
    run: async (fs) => {
      const { type, size } = await fs.stat('/docs')
      assert.deepEqual({ type, size }, { type: 'directory', size: 0 })
    },
  },
  {
    name: 'stat of a missing path is ENOENT and names it',
    run: async (fs) => {
      await assertRejects(() => fs.stat('/missing'), 'ENOENT', '/missing')
      await assertRejects(() => fs.stat('/docs/missing/below'), 'ENOENT', '/docs/missing/below')
    },
  },
  {
    name: 'a path below a file is missing',
    run: async (fs) => {
      await assertRejects(() => fs.stat('/lines.txt/below'), 'ENOENT')
      await assertRejects(() => fs.read('/lines.txt/below'), 'ENOENT')
      assert.equal(await fs.exists('/lines.txt/below'), false)
    },
  },
  {
    name: 'exists never throws for a missing path',
    run: async (fs) => {
      assert.equal(await fs.exists('/docs/deep/a.txt'), true)
      assert.equal(await fs.exists('/docs'), true)
      assert.equal(await fs.exists('/docs/missing/far/below'), false)
    },
  },
  {
    name: 'a relative path is EINVAL in every operation',
    run: async (fs) => {
      for (const path of ['lines.txt', '', './lines.txt', '../lines.txt']) {
        await assertRejects(() => fs.stat(path), 'EINVAL')
        await assertRejects(() => fs.exists(path), 'EINVAL')
        await assertRejects(() => fs.read(path), 'EINVAL')
        await assertRejects(() => fs.readdir(path), 'EINVAL')
        await assertRejects(() => fs.walk(path), 'EINVAL')
      }
    },
  },
  {
    name: 'paths are normalized, and never leave the root',
    run: async (fs) => {
      const plain = await fs.stat('/docs/guide.md')
      for (const path of [
        '//docs//guide.md',
        '/docs/./guide.md',
        '/docs/deep/../guide.md',
        '/../../docs/guide.md',
      ]) {
        assert.deepEqual(await fs.stat(path), plain, path)
      }
      assert.equal((await fs.stat('/docs/')).type, 'directory')
    },
  },
  {
    name: 'an aborted signal stops a call before it begins',
    run: async (fs) => {
      const ctx = { signal: AbortSignal.abort(new Error('no longer wanted')) }
      await assert.rejects(fs.stat('/lines.txt', ctx), /no longer wanted/)
      await assert.rejects(fs.exists('/lines.txt', ctx), /no longer wanted/)
    },
  },
  {
    name: 'materialize succeeds, for everything and for a part',
    run: async (fs) => {
      await fs.materialize()
      await fs.materialize({ prefix: '/docs' })
      assert.equal(await fs.exists('/docs/guide.md'), true)
    },
  },
]
