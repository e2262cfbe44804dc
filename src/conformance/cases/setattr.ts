import assert from 'node:assert/strict'
import {
  type Attributed,
  type CallContext,
  type FileSystem,
  isAttributed,
  isForkable,
  isLinkable,
  type Linkable,
} from '../../vfs/index.ts'
import { assertBytes, assertRejects } from '../assertions.ts'
import type { Case } from '../subject.ts'
import { createProtocolCase } from './protocol-case.ts'

const NEEDS: NonNullable<Case['needs']> = ['setattr', 'write']
const PAST_TIME = new Date('2001-02-03T04:05:06Z')
const noFollow: CallContext = { links: 'refuse' }

const isLinkedAndAttributed = (fs: FileSystem): fs is FileSystem & Attributed & Linkable =>
  isAttributed(fs) && isLinkable(fs)

export const attributeCases: readonly Case[] = [
  createProtocolCase(
    'setattr changes mode and time, one without the other',
    isAttributed,
    NEEDS,
    async (fs) => {
      const before = await fs.stat('/lines.txt')
      await fs.setattr('/lines.txt', { mode: 0o600 })
      assert.deepEqual(await fs.stat('/lines.txt'), { ...before, mode: 0o600 })
      await fs.setattr('/lines.txt', { mtime: PAST_TIME })
      assert.deepEqual(await fs.stat('/lines.txt'), { ...before, mode: 0o600, mtime: PAST_TIME })
      await fs.setattr('/lines.txt', {})
      assert.deepEqual(await fs.stat('/lines.txt'), { ...before, mode: 0o600, mtime: PAST_TIME })
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
    },
  ),
  createProtocolCase(
    'a directory has attributes too, and they leave what it holds alone',
    isAttributed,
    NEEDS,
    async (fs) => {
      await fs.setattr('/docs', { mode: 0o700, mtime: PAST_TIME })
      const { type, mode, mtime } = await fs.stat('/docs')
      assert.deepEqual({ type, mode, mtime }, { type: 'directory', mode: 0o700, mtime: PAST_TIME })
      await assertBytes(fs, '/docs/deep/a.txt', 'alpha\n')
    },
  ),
  createProtocolCase(
    'setattr of a missing path is ENOENT, of what is no mode or time EINVAL',
    isAttributed,
    NEEDS,
    async (fs) => {
      await assertRejects(() => fs.setattr('/missing', { mode: 0o600 }), 'ENOENT', '/missing')
      await assertRejects(() => fs.setattr('/lines.txt', { mode: -1 }), 'EINVAL')
      await assertRejects(() => fs.setattr('/lines.txt', { mode: 0.5 }), 'EINVAL')
      await assertRejects(() => fs.setattr('/lines.txt', { mtime: new Date(Number.NaN) }), 'EINVAL')
    },
  ),
  createProtocolCase(
    'a new file and an overwritten one keep the mode that was set',
    isAttributed,
    NEEDS,
    async (fs) => {
      await fs.setattr('/lines.txt', { mode: 0o640 })
      await fs.write('/lines.txt', 'again')
      assert.equal((await fs.stat('/lines.txt')).mode, 0o640)
    },
  ),
  createProtocolCase(
    'setattr follows a link, unless it is asked about the link itself',
    isLinkedAndAttributed,
    [...NEEDS, 'link'],
    async (fs) => {
      await fs.symlink('lines.txt', '/link')
      await fs.setattr('/link', { mode: 0o600, mtime: PAST_TIME })
      assert.deepEqual((await fs.stat('/lines.txt')).mtime, PAST_TIME)
      assert.equal((await fs.stat('/lines.txt')).mode, 0o600)
      const later = new Date('2011-01-01T00:00:00Z')
      await fs.setattr('/link', { mtime: later, ofLink: true })
      assert.deepEqual((await fs.stat('/link')).mtime, later)
      assert.equal((await fs.stat('/link')).type, 'symlink')
      assert.deepEqual((await fs.stat('/lines.txt')).mtime, PAST_TIME)
      await fs.symlink('nowhere', '/dangling')
      await assertRejects(() => fs.setattr('/dangling', { mtime: PAST_TIME }), 'ENOENT')
    },
  ),
  createProtocolCase(
    'setattr that follows no links is ELOOP where it would follow one',
    isLinkedAndAttributed,
    [...NEEDS, 'link'],
    async (fs) => {
      await fs.symlink('docs', '/papers')
      await assertRejects(() => fs.setattr('/papers/guide.md', { mode: 0o600 }, noFollow), 'ELOOP')
      await assertRejects(() => fs.setattr('/papers', { mtime: PAST_TIME }, noFollow), 'ELOOP')
      await fs.setattr('/papers', { mtime: PAST_TIME, ofLink: true }, noFollow)
      assert.deepEqual((await fs.stat('/papers')).mtime, PAST_TIME)
    },
  ),
  createProtocolCase('attributes of a fork are its own', isAttributed, [...NEEDS, 'fork'], async (fs) => {
    assert.ok(isForkable(fs))
    await fs.setattr('/docs', { mode: 0o700 })
    const fork = fs.fork()
    assert.ok(isAttributed(fork))
    await fork.setattr('/docs', { mode: 0o711 })
    await fork.setattr('/lines.txt', { mtime: PAST_TIME })
    assert.equal((await fs.stat('/docs')).mode, 0o700)
    assert.equal((await fork.stat('/docs')).mode, 0o711)
    assert.notDeepEqual((await fs.stat('/lines.txt')).mtime, PAST_TIME)
  }),
]
