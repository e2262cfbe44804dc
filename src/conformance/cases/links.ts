import assert from 'node:assert/strict'
import {
  type CallContext,
  type FileSystem,
  isAppendable,
  isLinkable,
  isOpenable,
  isRenamable,
  type Linkable,
  type Renamable,
} from '../../vfs/index.ts'
import { assertBytes, assertRejects, listNames, listWalkedPaths } from '../assertions.ts'
import type { Case } from '../subject.ts'
import { createProtocolCase } from './protocol-case.ts'

const LINKS: NonNullable<Case['needs']> = ['link', 'write']

const followingCases: readonly Case[] = [
  createProtocolCase(
    'a symbolic link is described as one and read through',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await fs.symlink('lines.txt', '/link')
      await fs.symlink('../docs/deep', '/docsx/deeper')
      assert.equal((await fs.stat('/link')).type, 'symlink')
      assert.equal(await fs.readlink('/link'), 'lines.txt')
      await assertBytes(fs, '/link', 'one\ntwo\nthree\nfour\n')
      assert.deepEqual(await listNames(fs, '/docsx/deeper'), ['a.txt', 'b.txt'])
      await assertBytes(fs, '/docsx/deeper/a.txt', 'alpha\n')
    },
  ),
  createProtocolCase(
    'writing through a link changes its target, removing one only the link',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await fs.symlink('lines.txt', '/link')
      await fs.write('/link', 'through')
      await assertBytes(fs, '/lines.txt', 'through')
      assert.equal((await fs.stat('/link')).type, 'symlink')
      await fs.remove('/link')
      assert.equal(await fs.exists('/link'), false)
      await assertBytes(fs, '/lines.txt', 'through')
    },
  ),
  createProtocolCase(
    'realpath follows the links on the way, not the last name',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await fs.symlink('docs', '/papers')
      await fs.symlink('guide.md', '/docs/link')
      assert.equal(await fs.realpath('/papers/deep/a.txt'), '/docs/deep/a.txt')
      assert.equal(await fs.realpath('/papers/link'), '/docs/link')
      assert.equal(await fs.realpath('/papers/fresh/file'), '/docs/fresh/file')
      assert.equal(await fs.realpath('/lines.txt'), '/lines.txt')
      assert.equal(await fs.realpath('/papers/link', { followLast: true }), '/docs/guide.md')
      assert.equal(await fs.realpath('/docs/guide.md', { followLast: true }), '/docs/guide.md')
      await fs.symlink('nowhere', '/dangling')
      assert.equal(await fs.realpath('/dangling', { followLast: true }), '/nowhere')
      await fs.symlink('gone/deep', '/lost')
      assert.equal(await fs.realpath('/lost', { followLast: true }), '/gone/deep')
      assert.equal(await fs.realpath('/lost/file'), '/gone/deep/file')
    },
  ),
  createProtocolCase(
    'a walk yields a link without following it',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await fs.symlink('.', '/docs/loop')
      assert.deepEqual((await listWalkedPaths(fs, '/docs')).toSorted(), [
        '/docs/deep/a.txt',
        '/docs/deep/b.txt',
        '/docs/guide.md',
        '/docs/loop',
      ])
    },
  ),
  createProtocolCase(
    'links in a circle are ELOOP, a dangling one ENOENT',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await fs.symlink('there', '/here')
      await fs.symlink('here', '/there')
      await fs.symlink('nowhere', '/dangling')
      await assertRejects(() => fs.read('/here'), 'ELOOP')
      await assertRejects(() => fs.read('/dangling'), 'ENOENT')
      assert.equal((await fs.stat('/dangling')).type, 'symlink')
    },
  ),
  createProtocolCase(
    'mkdir where a link is is EEXIST, wherever that leads, unless parents are asked for and it leads to a directory',
    isLinkable,
    ['link', 'write', 'mkdir'],
    async (fs) => {
      await fs.symlink('circle', '/circle')
      await fs.symlink('nowhere', '/dangling')
      await fs.symlink('missing/nowhere', '/far')
      await fs.symlink('docs', '/papers')
      for (const path of ['/circle', '/dangling', '/far', '/papers'])
        await assertRejects(() => fs.mkdir(path), 'EEXIST')
      for (const path of ['/dangling', '/far'])
        await assertRejects(() => fs.mkdir(path, { parents: true }), 'EEXIST')
      await assertRejects(() => fs.mkdir('/circle', { parents: true }), 'ELOOP')
      await fs.mkdir('/papers', { parents: true })
      assert.equal(await fs.exists('/nowhere'), false)
      assert.equal(await fs.exists('/missing'), false)
    },
  ),
  createProtocolCase(
    'symlink where something is already is EEXIST; readlink of a file EINVAL',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await assertRejects(() => fs.symlink('x', '/lines.txt'), 'EEXIST')
      await assertRejects(() => fs.readlink('/lines.txt'), 'EINVAL')
      await assertRejects(() => fs.readlink('/missing'), 'ENOENT')
    },
  ),
]

const noFollow: CallContext = { links: 'refuse' }

const refusalCases: readonly Case[] = [
  createProtocolCase(
    'a call that follows no links is ELOOP where one is on the way',
    isLinkable,
    LINKS,
    async (fs) => {
      await fs.symlink('docs', '/papers')
      for (const look of [
        () => fs.stat('/papers/guide.md', noFollow),
        () => fs.exists('/papers/guide.md', noFollow),
        () => fs.read('/papers/guide.md', {}, noFollow),
        () => fs.readdir('/papers/deep', noFollow),
      ]) {
        await assertRejects(look, 'ELOOP')
      }
      for (const change of [
        () => fs.write('/papers/guide.md', 'x', {}, noFollow),
        () => fs.write('/papers/new/file', 'x', {}, noFollow),
        () => fs.mkdir('/papers/new', {}, noFollow),
        () => fs.remove('/papers/guide.md', {}, noFollow),
        () => fs.remove('/papers/deep', { recursive: true }, noFollow),
        () => fs.symlink('guide.md', '/papers/new', noFollow),
      ]) {
        await assertRejects(change, 'ELOOP')
      }
      await assertUntouched(fs)
    },
  ),
  createProtocolCase(
    'a call that follows no links is ELOOP where the last name is one',
    isLinkable,
    LINKS,
    async (fs) => {
      await fs.symlink('lines.txt', '/link')
      await fs.symlink('nowhere', '/dangling')
      await fs.symlink('docs', '/papers')
      await assertRejects(() => fs.read('/link', {}, noFollow), 'ELOOP')
      await assertRejects(() => fs.readdir('/papers', noFollow), 'ELOOP')
      await assertRejects(() => fs.write('/link', 'x', {}, noFollow), 'ELOOP')
      await assertRejects(() => fs.write('/dangling', 'x', {}, noFollow), 'ELOOP')
      await assertRejects(() => fs.mkdir('/papers', { parents: true }, noFollow), 'ELOOP')
      if (isAppendable(fs)) await assertRejects(() => fs.append('/link', 'x', noFollow), 'ELOOP')
      if (isOpenable(fs)) {
        await assertRejects(() => fs.open('/link', { write: true }, noFollow), 'ELOOP')
        await assertRejects(() => fs.open('/dangling', { write: true, create: true }, noFollow), 'ELOOP')
      }
      assert.equal(await fs.exists('/nowhere'), false)
      await assertUntouched(fs)
    },
  ),
  createProtocolCase('a call that follows no links may name one', isLinkable, LINKS, async (fs) => {
    await fs.symlink('lines.txt', '/link')
    assert.equal((await fs.stat('/link', noFollow)).type, 'symlink')
    assert.equal(await fs.readlink('/link', noFollow), 'lines.txt')
    await fs.remove('/link', {}, noFollow)
    await fs.write('/docs/new/file', 'x', {}, noFollow)
    await fs.mkdir('/docs/more', {}, noFollow)
    await assertBytes(fs, '/docs/new/file', 'x')
    await assertUntouched(fs)
  }),
  createProtocolCase(
    'a rename that follows no links is ELOOP where one is on the way of either end',
    (fs): fs is FileSystem & Linkable & Renamable => isLinkable(fs) && isRenamable(fs),
    [...LINKS, 'rename'],
    async (fs) => {
      await fs.symlink('docs', '/papers')
      await fs.write('/docsx/own', 'x')
      await assertRejects(() => fs.rename('/papers/guide.md', '/docsx/taken', {}, noFollow), 'ELOOP')
      await assertRejects(() => fs.rename('/docsx/own', '/papers/planted', {}, noFollow), 'ELOOP')
      await fs.rename('/papers', '/docsx/papers', {}, noFollow)
      assert.equal(await fs.readlink('/docsx/papers'), 'docs')
      await assertBytes(fs, '/docsx/own', 'x')
      await assertUntouched(fs)
    },
  ),
]

async function assertUntouched(fs: FileSystem): Promise<void> {
  await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
  await assertBytes(fs, '/docs/guide.md', '# Guide\nstart here\n')
  await assertBytes(fs, '/docs/deep/a.txt', 'alpha\n')
}

export const linkCases: readonly Case[] = [...followingCases, ...refusalCases]
