import assert from 'node:assert/strict'
import type { DirEntry } from '../../vfs/index.ts'
import { assertRejects, listNames } from '../assertions.ts'
import type { Case } from '../subject.ts'

export const listingCases: readonly Case[] = [
  {
    name: 'readdir gives the immediate children, sorted, with their types',
    run: async (fs) => {
      const found: DirEntry[] = []
      for await (const entry of fs.readdir('/')) found.push(entry)
      assert.deepEqual(found, [
        { name: 'docs', type: 'directory' },
        { name: 'docsx', type: 'directory' },
        { name: 'empty.txt', type: 'file' },
        { name: 'large.bin', type: 'file' },
        { name: 'lines.txt', type: 'file' },
        { name: 'unicode.txt', type: 'file' },
      ])
    },
  },
  {
    name: 'readdir of a directory whose name begins another one lists only its own',
    run: async (fs) => {
      assert.deepEqual(await listNames(fs, '/docs'), ['deep', 'guide.md'])
      assert.deepEqual(await listNames(fs, '/docsx'), ['twin.txt'])
    },
  },
  {
    name: 'readdir of a missing directory is ENOENT, of a file ENOTDIR, on the first step',
    run: async (fs) => {
      await assertRejects(() => fs.readdir('/missing'), 'ENOENT', '/missing')
      await assertRejects(() => fs.readdir('/lines.txt'), 'ENOTDIR', '/lines.txt')
    },
  },
  {
    name: 'leaving a listing early is fine',
    run: async (fs) => {
      for await (const { name } of fs.readdir('/')) {
        assert.equal(name, 'docs')
        break
      }
      assert.equal((await listNames(fs, '/')).length, 6)
    },
  },
  {
    name: 'names are sorted by code units, whatever their case or script',
    seed: Object.fromEntries(
      ['b', 'B', 'a', '_', 'é', 'a.txt', 'a-1', 'Z', '10', '9', '日'].map((name) => [`/${name}`, name]),
    ),
    run: async (fs) => {
      assert.deepEqual(await listNames(fs, '/'), [
        '10',
        '9',
        'B',
        'Z',
        '_',
        'a',
        'a-1',
        'a.txt',
        'b',
        'é',
        '日',
      ])
    },
  },
  {
    name: 'an empty root lists nothing',
    seed: {},
    run: async (fs) => assert.deepEqual(await listNames(fs, '/'), []),
  },
]
