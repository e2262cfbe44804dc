import assert from 'node:assert/strict'
import {
  append,
  type CallContext,
  diff,
  type FileSystem,
  grep,
  type HardLinkable,
  hash,
  isForkable,
  isHardLinkable,
  isLinkable,
  isRenamable,
  type Linkable,
  type Renamable,
} from '../../vfs/index.ts'
import { assertBytes, assertRejects, listWalkedPaths } from '../assertions.ts'
import type { Case } from '../subject.ts'
import { createProtocolCase } from './protocol-case.ts'

const NEEDS: NonNullable<Case['needs']> = ['hardlink', 'write']
const noFollow: CallContext = { links: 'refuse' }

type Renaming = HardLinkable & Renamable

const canRename = (fs: FileSystem): fs is FileSystem & Renaming => isHardLinkable(fs) && isRenamable(fs)
const hasLinks = (fs: FileSystem): fs is FileSystem & HardLinkable & Linkable =>
  isHardLinkable(fs) && isLinkable(fs)

const nameCases: readonly Case[] = [
  createProtocolCase('a file with two names is one file', isHardLinkable, NEEDS, async (fs) => {
    assert.equal((await fs.identity('/lines.txt')).nlink, 1)
    await fs.link('/lines.txt', '/docs/second')
    const { ino, nlink } = await fs.identity('/lines.txt')
    assert.equal(nlink, 2)
    assert.deepEqual(await fs.identity('/docs/second'), { ino, nlink })
    assert.notEqual((await fs.identity('/empty.txt')).ino, ino)
    assert.equal((await fs.stat('/docs/second')).type, 'file')
    await assertBytes(fs, '/docs/second', 'one\ntwo\nthree\nfour\n')
    await assertRejects(() => fs.identity('/missing'), 'ENOENT', '/missing')
  }),
  createProtocolCase('a file stays until its last name is gone', isHardLinkable, NEEDS, async (fs) => {
    await fs.link('/docs/guide.md', '/second')
    await fs.link('/second', '/third')
    assert.equal((await fs.identity('/third')).nlink, 3)
    await fs.remove('/docs', { recursive: true })
    assert.equal((await fs.identity('/third')).nlink, 2)
    await fs.remove('/second')
    assert.equal((await fs.identity('/third')).nlink, 1)
    await assertBytes(fs, '/third', '# Guide\nstart here\n')
    await fs.remove('/third')
    assert.equal(await fs.exists('/third'), false)
  }),
  createProtocolCase(
    'link is EEXIST, ENOENT or EISDIR where it cannot be, and changes nothing',
    isHardLinkable,
    NEEDS,
    async (fs) => {
      const before = await listWalkedPaths(fs, '/', { includeDirs: true })
      await assertRejects(() => fs.link('/lines.txt', '/empty.txt'), 'EEXIST')
      await assertRejects(() => fs.link('/lines.txt', '/docs'), 'EEXIST')
      await assertRejects(() => fs.link('/missing', '/second'), 'ENOENT')
      await assertRejects(() => fs.link('/lines.txt', '/missing/second'), 'ENOENT')
      await assertRejects(() => fs.link('/lines.txt', '/empty.txt/second'), 'ENOTDIR')
      await assertRejects(() => fs.link('/docs', '/second'), 'EISDIR')
      assert.equal((await fs.identity('/lines.txt')).nlink, 1)
      assert.deepEqual(await listWalkedPaths(fs, '/', { includeDirs: true }), before)
    },
  ),
  createProtocolCase('a write and a second name keep which file it is', isHardLinkable, NEEDS, async (fs) => {
    const { ino } = await fs.identity('/lines.txt')
    await fs.link('/lines.txt', '/second')
    assert.equal((await fs.identity('/second')).ino, ino)
    await fs.write('/lines.txt', 'again')
    assert.equal((await fs.identity('/lines.txt')).ino, ino)
  }),
  createProtocolCase('a rename keeps which file it is', canRename, [...NEEDS, 'rename'], async (fs) => {
    await fs.link('/docs/guide.md', '/second')
    const { ino } = await fs.identity('/second')
    await fs.rename('/second', '/third')
    await fs.rename('/docs', '/papers')
    assert.deepEqual(await fs.identity('/third'), { ino, nlink: 2 })
    assert.deepEqual(await fs.identity('/papers/guide.md'), { ino, nlink: 2 })
    await fs.rename('/lines.txt', '/third', { overwrite: true })
    assert.deepEqual(await fs.identity('/papers/guide.md'), { ino, nlink: 1 })
    await assertBytes(fs, '/papers/guide.md', '# Guide\nstart here\n')
  }),
  createProtocolCase(
    'a rename over another name of the same file leaves both',
    canRename,
    [...NEEDS, 'rename'],
    async (fs) => {
      await fs.link('/lines.txt', '/second')
      await assertRejects(() => fs.rename('/second', '/lines.txt'), 'EEXIST')
      await fs.rename('/second', '/lines.txt', { overwrite: true })
      assert.equal((await fs.identity('/lines.txt')).nlink, 2)
      await assertBytes(fs, '/second', 'one\ntwo\nthree\nfour\n')
    },
  ),
  createProtocolCase(
    'a symbolic link gets the second name itself',
    hasLinks,
    [...NEEDS, 'link'],
    async (fs) => {
      await fs.symlink('lines.txt', '/link')
      await fs.link('/link', '/second')
      assert.equal(await fs.readlink('/second'), 'lines.txt')
      assert.equal((await fs.identity('/second')).nlink, 2)
      assert.equal((await fs.identity('/lines.txt')).nlink, 1)
    },
  ),
  createProtocolCase(
    'link that follows no links is ELOOP where one is on the way',
    hasLinks,
    [...NEEDS, 'link'],
    async (fs) => {
      await fs.symlink('docs', '/papers')
      await assertRejects(() => fs.link('/papers/guide.md', '/second', noFollow), 'ELOOP')
      await assertRejects(() => fs.link('/lines.txt', '/papers/second', noFollow), 'ELOOP')
      await assertRejects(() => fs.identity('/papers/guide.md', noFollow), 'ELOOP')
      await fs.link('/docs/guide.md', '/docs/second', noFollow)
      assert.equal((await fs.identity('/docs/second', noFollow)).nlink, 2)
    },
  ),
]

const contentCases: readonly Case[] = [
  createProtocolCase(
    'what is appended under one name is there under all',
    isHardLinkable,
    NEEDS,
    async (fs) => {
      await fs.link('/lines.txt', '/docs/second')
      await append(fs, '/docs/second', 'five\n')
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\nfive\n')
    },
  ),
  createProtocolCase(
    'what is written under one name is there under all',
    isHardLinkable,
    NEEDS,
    async (fs) => {
      await fs.link('/lines.txt', '/docs/second')
      const { ino } = await fs.identity('/lines.txt')
      await fs.write('/docs/second', 'shared needle\n')
      await assertBytes(fs, '/lines.txt', 'shared needle\n')
      assert.equal((await fs.stat('/lines.txt')).size, 14)
      assert.deepEqual(await fs.identity('/lines.txt'), { ino, nlink: 2 })
      assert.equal(await hash(fs, '/lines.txt'), await hash(fs, '/docs/second'))
      const found = await Array.fromAsync(grep(fs, '/', 'needle'))
      assert.deepEqual(found.map(({ path }) => path).sort(), ['/docs/second', '/lines.txt'])
    },
  ),
  createProtocolCase(
    'a fork has the links, and neither side sees the other change',
    isHardLinkable,
    [...NEEDS, 'fork'],
    async (fs) => {
      assert.ok(isForkable(fs))
      await fs.link('/lines.txt', '/second')
      const fork = fs.fork()
      assert.ok(isHardLinkable(fork))
      await fork.write('/second', 'forked')
      await fork.link('/second', '/third')
      await fs.remove('/second')
      await assertBytes(fork, '/lines.txt', 'forked')
      assert.equal((await fork.identity('/lines.txt')).nlink, 3)
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
      assert.equal((await fs.identity('/lines.txt')).nlink, 1)
    },
  ),
  createProtocolCase(
    'a diff names every name of a file that changed',
    isHardLinkable,
    [...NEEDS, 'fork'],
    async (fs) => {
      assert.ok(isForkable(fs))
      await fs.link('/lines.txt', '/docs/second')
      const before = fs.fork()
      await fs.write('/docs/second', 'changed')
      const changes = await Array.fromAsync(diff(before, fs))
      assert.deepEqual(
        changes.map(({ kind, path }) => `${kind} ${path}`),
        ['modified /docs/second', 'modified /lines.txt'],
      )
    },
  ),
]

export const hardLinkCases: readonly Case[] = [...nameCases, ...contentCases]
