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
import { assertBytes, names, rejects, walked } from '../expect.ts'
import type { Case } from '../subject.ts'
import { rule } from './protocol-rule.ts'

const LINKS: NonNullable<Case['needs']> = ['link', 'write']

const followingCases: readonly Case[] = [
  rule('a symbolic link is described as one and read through', isLinkable, ['link', 'write'], async (fs) => {
    await fs.symlink('lines.txt', '/link')
    await fs.symlink('../docs/deep', '/docsx/deeper')
    assert.equal((await fs.stat('/link')).type, 'symlink')
    assert.equal(await fs.readlink('/link'), 'lines.txt')
    await assertBytes(fs, '/link', 'one\ntwo\nthree\nfour\n')
    assert.deepEqual(await names(fs, '/docsx/deeper'), ['a.txt', 'b.txt'])
    await assertBytes(fs, '/docsx/deeper/a.txt', 'alpha\n')
  }),
  rule(
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
  rule(
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
    },
  ),
  rule('a walk yields a link without following it', isLinkable, ['link', 'write'], async (fs) => {
    await fs.symlink('.', '/docs/loop')
    assert.deepEqual((await walked(fs, '/docs')).toSorted(), [
      '/docs/deep/a.txt',
      '/docs/deep/b.txt',
      '/docs/guide.md',
      '/docs/loop',
    ])
  }),
  rule('links in a circle are ELOOP, a dangling one ENOENT', isLinkable, ['link', 'write'], async (fs) => {
    await fs.symlink('there', '/here')
    await fs.symlink('here', '/there')
    await fs.symlink('nowhere', '/dangling')
    await rejects(() => fs.read('/here'), 'ELOOP')
    await rejects(() => fs.read('/dangling'), 'ENOENT')
    assert.equal((await fs.stat('/dangling')).type, 'symlink')
  }),
  rule(
    'mkdir where a link is is EEXIST, wherever that leads, unless parents are asked for and it leads to a directory',
    isLinkable,
    ['link', 'write', 'mkdir'],
    async (fs) => {
      await fs.symlink('circle', '/circle')
      await fs.symlink('nowhere', '/dangling')
      await fs.symlink('missing/nowhere', '/far')
      await fs.symlink('docs', '/papers')
      for (const path of ['/circle', '/dangling', '/far', '/papers'])
        await rejects(() => fs.mkdir(path), 'EEXIST')
      for (const path of ['/dangling', '/far'])
        await rejects(() => fs.mkdir(path, { parents: true }), 'EEXIST')
      await rejects(() => fs.mkdir('/circle', { parents: true }), 'ELOOP')
      await fs.mkdir('/papers', { parents: true })
      assert.equal(await fs.exists('/nowhere'), false)
      assert.equal(await fs.exists('/missing'), false)
    },
  ),
  rule(
    'symlink where something is already is EEXIST; readlink of a file EINVAL',
    isLinkable,
    ['link', 'write'],
    async (fs) => {
      await rejects(() => fs.symlink('x', '/lines.txt'), 'EEXIST')
      await rejects(() => fs.readlink('/lines.txt'), 'EINVAL')
      await rejects(() => fs.readlink('/missing'), 'ENOENT')
    },
  ),
]

const refusing: CallContext = { links: 'refuse' }

const refusalCases: readonly Case[] = [
  rule('a call that follows no links is ELOOP where one is on the way', isLinkable, LINKS, async (fs) => {
    await fs.symlink('docs', '/papers')
    for (const look of [
      () => fs.stat('/papers/guide.md', refusing),
      () => fs.exists('/papers/guide.md', refusing),
      () => fs.read('/papers/guide.md', {}, refusing),
      () => fs.readdir('/papers/deep', refusing),
    ]) {
      await rejects(look, 'ELOOP')
    }
    for (const change of [
      () => fs.write('/papers/guide.md', 'x', {}, refusing),
      () => fs.write('/papers/new/file', 'x', {}, refusing),
      () => fs.mkdir('/papers/new', {}, refusing),
      () => fs.remove('/papers/guide.md', {}, refusing),
      () => fs.remove('/papers/deep', { recursive: true }, refusing),
      () => fs.symlink('guide.md', '/papers/new', refusing),
    ]) {
      await rejects(change, 'ELOOP')
    }
    await assertUntouched(fs)
  }),
  rule('a call that follows no links is ELOOP where the last name is one', isLinkable, LINKS, async (fs) => {
    await fs.symlink('lines.txt', '/link')
    await fs.symlink('nowhere', '/dangling')
    await fs.symlink('docs', '/papers')
    await rejects(() => fs.read('/link', {}, refusing), 'ELOOP')
    await rejects(() => fs.readdir('/papers', refusing), 'ELOOP')
    await rejects(() => fs.write('/link', 'x', {}, refusing), 'ELOOP')
    await rejects(() => fs.write('/dangling', 'x', {}, refusing), 'ELOOP')
    await rejects(() => fs.mkdir('/papers', { parents: true }, refusing), 'ELOOP')
    if (isAppendable(fs)) await rejects(() => fs.append('/link', 'x', refusing), 'ELOOP')
    if (isOpenable(fs)) {
      await rejects(() => fs.open('/link', { write: true }, refusing), 'ELOOP')
      await rejects(() => fs.open('/dangling', { write: true, create: true }, refusing), 'ELOOP')
    }
    assert.equal(await fs.exists('/nowhere'), false)
    await assertUntouched(fs)
  }),
  rule('a call that follows no links may name one', isLinkable, LINKS, async (fs) => {
    await fs.symlink('lines.txt', '/link')
    assert.equal((await fs.stat('/link', refusing)).type, 'symlink')
    assert.equal(await fs.readlink('/link', refusing), 'lines.txt')
    await fs.remove('/link', {}, refusing)
    await fs.write('/docs/new/file', 'x', {}, refusing)
    await fs.mkdir('/docs/more', {}, refusing)
    await assertBytes(fs, '/docs/new/file', 'x')
    await assertUntouched(fs)
  }),
  rule(
    'a rename that follows no links is ELOOP where one is on the way of either end',
    (fs): fs is FileSystem & Linkable & Renamable => isLinkable(fs) && isRenamable(fs),
    [...LINKS, 'rename'],
    async (fs) => {
      await fs.symlink('docs', '/papers')
      await fs.write('/docsx/own', 'x')
      await rejects(() => fs.rename('/papers/guide.md', '/docsx/taken', {}, refusing), 'ELOOP')
      await rejects(() => fs.rename('/docsx/own', '/papers/planted', {}, refusing), 'ELOOP')
      await fs.rename('/papers', '/docsx/papers', {}, refusing)
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
