import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  type Capability,
  isAppendable,
  isContentAddressed,
  isForkable,
  isRenamable,
  isSearchable,
  type Match,
  readFile,
} from '../../vfs/index.ts'
import { assertBytes, assertRejects, listNames, listWalkedPaths } from '../assertions.ts'
import { type Case, largeContent } from '../subject.ts'
import { createProtocolCase } from './protocol-case.ts'

const forkCases: readonly Case[] = [
  createProtocolCase(
    'a fork starts with the same content, and neither sees the other change',
    isForkable,
    ['fork', 'write'],
    async (fs) => {
      const fork = fs.fork()
      assert.deepEqual(await listWalkedPaths(fork, '/'), await listWalkedPaths(fs, '/'))
      await fork.write('/lines.txt', 'forked')
      await fork.remove('/docs', { recursive: true })
      await fork.write('/only/fork', 'x')
      await fs.write('/large.bin', 'original')
      await fs.write('/only/original', 'x')
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
      await assertBytes(fs, '/docs/deep/a.txt', 'alpha\n')
      await assertBytes(fork, '/large.bin', largeContent)
      assert.deepEqual(await listNames(fs, '/only'), ['original'])
      assert.deepEqual(await listNames(fork, '/only'), ['fork'])
    },
  ),
  createProtocolCase('a fork of a fork is as independent', isForkable, ['fork', 'write'], async (fs) => {
    const first = fs.fork()
    await first.write('/generation', 'first')
    assert.ok(isForkable(first))
    const second = first.fork()
    await second.write('/generation', 'second')
    assert.equal(await fs.exists('/generation'), false)
    await assertBytes(first, '/generation', 'first')
    await assertBytes(second, '/generation', 'second')
  }),
  createProtocolCase('a fork can be read where nothing can be written', isForkable, ['fork'], async (fs) => {
    assert.deepEqual(await listWalkedPaths(fs.fork(), '/'), await listWalkedPaths(fs, '/'))
  }),
]

const renameCases: readonly Case[] = [
  createProtocolCase(
    'rename moves a file, and makes the parents it needs',
    isRenamable,
    ['rename', 'write'],
    async (fs) => {
      await fs.rename('/lines.txt', '/docs/moved.txt')
      assert.equal(await fs.exists('/lines.txt'), false)
      await assertBytes(fs, '/docs/moved.txt', 'one\ntwo\nthree\nfour\n')
      await fs.rename('/docs/moved.txt', '/made/for/it.txt')
      await assertBytes(fs, '/made/for/it.txt', 'one\ntwo\nthree\nfour\n')
    },
  ),
  createProtocolCase(
    'rename moves a directory with all it holds',
    isRenamable,
    ['rename', 'write'],
    async (fs) => {
      await fs.rename('/docs', '/papers')
      assert.deepEqual(await listWalkedPaths(fs, '/papers'), [
        '/papers/deep/a.txt',
        '/papers/deep/b.txt',
        '/papers/guide.md',
      ])
      assert.equal(await fs.exists('/docs'), false)
    },
  ),
  createProtocolCase('rename of a missing path is ENOENT', isRenamable, ['rename', 'write'], async (fs) => {
    await assertRejects(() => fs.rename('/missing', '/x'), 'ENOENT')
    assert.equal(await fs.exists('/x'), false)
  }),
  createProtocolCase(
    'rename onto something is EEXIST, unless it may overwrite',
    isRenamable,
    ['rename', 'write'],
    async (fs) => {
      await assertRejects(() => fs.rename('/lines.txt', '/empty.txt'), 'EEXIST')
      await fs.rename('/lines.txt', '/empty.txt', { overwrite: true })
      await assertBytes(fs, '/empty.txt', 'one\ntwo\nthree\nfour\n')
      await assertRejects(() => fs.rename('/empty.txt', '/docs', { overwrite: true }), 'EISDIR')
      await assertRejects(() => fs.rename('/docs', '/empty.txt', { overwrite: true }), 'ENOTDIR')
      await assertRejects(() => fs.rename('/docsx', '/docs', { overwrite: true }), 'ENOTEMPTY')
      await assertBytes(fs, '/docs/guide.md', '# Guide\nstart here\n')
    },
  ),
  createProtocolCase(
    'rename into its own descendant is EINVAL and damages nothing',
    isRenamable,
    ['rename', 'write'],
    async (fs) => {
      await assertRejects(() => fs.rename('/docs', '/docs/deep/docs'), 'EINVAL')
      await fs.rename('/docs', '/docs')
      await assertBytes(fs, '/docs/deep/a.txt', 'alpha\n')
    },
  ),
]

const contentCases: readonly Case[] = [
  createProtocolCase(
    'append adds to the end, and makes a missing file',
    isAppendable,
    ['append', 'write'],
    async (fs) => {
      await fs.append('/lines.txt', 'five\n')
      await fs.append('/logs/new.txt', 'first')
      await fs.append('/logs/new.txt', new TextEncoder().encode(' second'))
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\nfive\n')
      await assertBytes(fs, '/logs/new.txt', 'first second')
      await assertRejects(() => fs.append('/docs', 'x'), 'EISDIR')
    },
  ),
  createProtocolCase(
    'a hundred appends at once lose nothing',
    isAppendable,
    ['append', 'write'],
    async (fs) => {
      await Promise.all(Array.from({ length: 100 }, (_, i) => fs.append('/log', `line ${i}\n`)))
      const lines = Buffer.from(await readFile(fs, '/log'))
        .toString()
        .trimEnd()
        .split('\n')
      assert.equal(new Set(lines).size, 100)
      assert.equal(lines.length, 100)
    },
  ),
  createProtocolCase('hash is the SHA-256 of the content', isContentAddressed, ['hash'], async (fs) => {
    const expected = createHash('sha256').update(largeContent).digest('hex')
    assert.equal(await fs.hash('/large.bin'), expected)
    await assertRejects(() => fs.hash('/missing'), 'ENOENT')
    await assertRejects(() => fs.hash('/docs'), 'EISDIR')
  }),
  createProtocolCase('search finds what reading every file would', isSearchable, ['search'], async (fs) => {
    const found: Match[] = []
    for await (const match of fs.search('/', { pattern: /^t/, before: 1, after: 1 })) found.push(match)
    assert.deepEqual(found, [
      { path: '/lines.txt', line: 2, text: 'two', before: ['one'], after: ['three'] },
      { path: '/lines.txt', line: 3, text: 'three', before: ['two'], after: ['four'] },
    ])
    await assertRejects(() => fs.search('/missing', { pattern: 'x' }), 'ENOENT')
  }),
]

/** Methods that each secondary capability promises. */
const promisedMethods: Readonly<Partial<Record<Capability, readonly string[]>>> = {
  fork: ['fork'],
  rename: ['rename'],
  link: ['symlink', 'readlink', 'realpath'],
  hardlink: ['link', 'identity'],
  setattr: ['setattr'],
  append: ['append'],
  open: ['open'],
  search: ['search'],
  hash: ['hash'],
  diff: ['diffFrom'],
  version: ['versions', 'readVersion'],
  watch: ['watch'],
}

const declarationCases: readonly Case[] = [
  {
    name: 'a file system has the methods its capabilities promise',
    run: async (fs) => {
      for (const capability of fs.capabilities) {
        for (const method of promisedMethods[capability] ?? []) {
          assert.equal(typeof Reflect.get(fs, method), 'function', `${capability} promises ${method}()`)
        }
      }
    },
  },
]

export const secondaryCases: readonly Case[] = [
  ...declarationCases,
  ...forkCases,
  ...renameCases,
  ...contentCases,
]
