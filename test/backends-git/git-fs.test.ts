import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type GitFs, type GitOptions, type GitReader, openGit } from '../../src/backends/git/index.ts'
import { diff, list, MemoryFs, readFile, readText } from '../../src/vfs/index.ts'
import { git, type TestCommit, TestRepository } from '../support/git-repository.ts'

const COMMIT = 'c0ffee0000000000000000000000000000000000'
const scratch = mkdtempSync(join(tmpdir(), 'coppice-git-fs-'))

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const odd: TestCommit = {
  seconds: 1_234_567_890,
  files: { 'docs/guide.md': '# Guide\n', 'a/new\nline "quoted"': 'odd\n', 'a/日本語': 'unicode\n' },
  executables: { 'bin/run': '#!/bin/sh\n' },
  links: {
    current: 'docs',
    'docs/up': '../bin/run',
    outside: '../../../etc/passwd',
    here: 'there',
    there: 'here',
  },
  submodules: { 'vendor/lib': COMMIT },
}

async function paths(fs: GitFs): Promise<string[]> {
  return (await Array.fromAsync(fs.walk('/', { includeDirs: true }))).map(({ path }) => path)
}

it('refuses a name where options belong', async () => {
  const name: unknown = 'main'
  await expect(openGit('/repository', name as GitOptions)).rejects.toMatchObject({
    code: 'EINVAL',
    message: expect.stringContaining("openGit takes options: openGit('/repository', { ref: 'main' })"),
  })
})

for (const reader of ['git', 'isomorphic-git'] satisfies GitReader[]) {
  describe(`a repository read by ${reader}`, () => {
    it('has the modes of its files, the time of its commit, and exact names', async () => {
      using repository = new TestRepository([odd])
      await using fs = await openGit(repository.path, { reader })
      const mtime = new Date(1_234_567_890_000)
      expect(await fs.stat('/bin/run')).toEqual({ type: 'file', size: 10, mtime, mode: 0o755 })
      expect(await fs.stat('/docs/guide.md')).toEqual({ type: 'file', size: 8, mtime, mode: 0o644 })
      expect(await fs.stat('/current')).toEqual({ type: 'symlink', size: 4, mtime, mode: 0o777 })
      expect(await fs.stat('/docs')).toEqual({ type: 'directory', size: 0, mtime, mode: 0o755 })
      expect(await readText(fs, '/a/new\nline "quoted"')).toBe('odd\n')
      expect(await readText(fs, '/a/日本語')).toBe('unicode\n')
      expect(fs.commit).toMatchObject({ message: 'commit 1\n', parents: [] })
    })

    it('follows links inside the tree and never out of it', async () => {
      using repository = new TestRepository([odd])
      await using fs = await openGit(repository.path, { reader })
      expect(await fs.readlink('/outside')).toBe('../../../etc/passwd')
      expect(await fs.realpath('/current/up', { followLast: true })).toBe('/bin/run')
      expect(await readText(fs, '/current/up')).toBe('#!/bin/sh\n')
      await expect(readText(fs, '/outside')).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(readText(fs, '/here')).rejects.toMatchObject({ code: 'ELOOP' })
      await expect(fs.stat('/current/guide.md', { links: 'refuse' })).rejects.toMatchObject({ code: 'ELOOP' })
      await expect(fs.symlink('x', '/y')).rejects.toMatchObject({ code: 'EROFS' })
    })

    it('shows a submodule as an empty directory with an explanation', async () => {
      using repository = new TestRepository([odd])
      await using fs = await openGit(repository.path, { reader })
      expect(await list(fs, '/vendor')).toEqual([{ name: 'lib', type: 'directory' }])
      expect(await list(fs, '/vendor/lib')).toEqual([])
      expect(await Array.fromAsync(fs.submodules())).toEqual([{ path: '/vendor/lib', commit: COMMIT }])
      await expect(fs.stat('/vendor/lib/x')).rejects.toThrow(`'/vendor/lib' is a submodule`)
    })

    it('opens branches, tags, ids and worktrees', async () => {
      using repository = new TestRepository([{ files: { v: '1' } }, { files: { v: '2' } }])
      repository.git('tag', 'v1', 'main~1')
      repository.git('-c', 'user.name=a', '-c', 'user.email=b', 'tag', '-a', '-m', 'x', 'signed/v1', 'v1')
      const worktree = join(scratch, `worktree-${reader}`)
      repository.git('worktree', 'add', '-q', worktree, 'v1')
      const id = repository.git('rev-parse', 'v1')
      const opened: [string, string | undefined, string][] = [
        [repository.path, undefined, '2'],
        [repository.path, 'main', '2'],
        [repository.path, 'v1', '1'],
        [repository.path, 'signed/v1', '1'],
        [repository.path, id, '1'],
        [repository.path, id.slice(0, 10), '1'],
        [worktree, undefined, '1'],
      ]
      for (const [path, ref, content] of opened) {
        await using fs = await openGit(path, { reader, ...(ref !== undefined && { ref }) })
        expect(await readText(fs, '/v')).toBe(content)
      }
    })

    it('refuses a name without a commit, and a directory without a repository', async () => {
      using repository = new TestRepository([odd])
      const options = (ref: string) => ({ reader, ref })
      for (const ref of ['--all', '-x', 'a b', 'main\ninfo HEAD', ''])
        await expect(openGit(repository.path, options(ref)), ref).rejects.toMatchObject({ code: 'EINVAL' })
      for (const ref of ['nothing', '0123456789'])
        await expect(openGit(repository.path, options(ref)), ref).rejects.toMatchObject({ code: 'ENOENT' })
      const inside = join(repository.path, 'objects')
      await expect(openGit(inside, { reader })).rejects.toMatchObject({ code: 'ENOENT' })
    })

    it('compares two commits without reading shared trees', async () => {
      const files = { 'same/deep/a': 'a', 'changed/b': 'b', 'gone/c': 'c', kind: 'file' }
      using repository = new TestRepository([
        { files },
        { files: { 'changed/b': 'B!', 'gone/c': null, 'new/d': 'd', kind: null }, links: { kind: 'new' } },
      ])
      await using before = await openGit(repository.path, {
        reader,
        ref: repository.git('rev-parse', 'main~1'),
      })
      await using after = await openGit(repository.path, { reader })
      const changes = (await Array.fromAsync(diff(before, after))).map(({ kind, path }) => `${kind} ${path}`)
      expect(changes).toEqual([
        'modified /changed/b',
        'deleted /gone/c',
        'deleted /kind',
        'added /kind',
        'added /new/d',
      ])
      const memory = new MemoryFs()
      expect(after.diffFrom(memory)).toBeNull()
    })

    it('omits names that are not UTF-8 or lead out, and lists all others', async () => {
      using repository = new TestRepository([{ files: { plain: 'x' } }])
      const blob = repository.git('rev-parse', 'main:plain')
      const entry = (name: string) => [Buffer.from(`100644 ${name}\0`, 'latin1'), Buffer.from(blob, 'hex')]
      const bytes = Buffer.concat(['..', 'caf\xe9', 'good'].flatMap(entry))
      const tree = git(
        ['--git-dir', repository.path, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
        bytes,
      )
      const author = ['-c', 'user.name=a', '-c', 'user.email=b']
      const commit = repository.git(...author, 'commit-tree', '-m', 'x', tree.toString().trim())
      await using fs = await openGit(repository.path, { reader, ref: commit })
      expect(await paths(fs)).toEqual(['/good'])
    })
  })
}

describe('a repository read by git', () => {
  it('supports SHA-256 ids, and alternates', async () => {
    using repository = new TestRepository([{ ...odd, submodules: {} }], { format: 'sha256' })
    const borrower = join(scratch, 'borrower')
    git(['clone', '-q', '--shared', '--no-checkout', repository.path, borrower])
    await using fs = await openGit(borrower, { reader: 'git' })
    expect(fs.commit.id).toHaveLength(64)
    expect(await readText(fs, '/docs/guide.md')).toBe('# Guide\n')
  })

  it('streams any part of a large file during other reads', async () => {
    const large = Buffer.alloc(9 * 1024 * 1024, 'no two lines alike? they are.\n')
    using repository = new TestRepository([{ files: { large, small: 'small' } }])
    await using fs = await openGit(repository.path, { reader: 'git' })
    expect(Buffer.compare(await readFile(fs, '/large'), large)).toBe(0)
    const stream = fs.read('/large')[Symbol.asyncIterator]()
    await stream.next()
    expect(await readText(fs, '/small')).toBe('small')
    await stream.return?.()
    const part = await Array.fromAsync(fs.read('/large', { byteRange: [5_000_000, 7] }))
    expect(Buffer.concat(part)).toEqual(large.subarray(5_000_000, 5_000_007))
  })

  it('answers concurrent requests in any order', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`d${at % 7}/f${at}`, `${at}`.repeat(at)]),
    )
    using repository = new TestRepository([{ files }])
    await using fs = await openGit(repository.path, { reader: 'git' })
    const read = await Promise.all(Object.keys(files).map((path) => readText(fs, `/${path}`)))
    expect(read).toEqual(Object.values(files))
  })

  it('ends with the file system: a later read is EBADF', async () => {
    using repository = new TestRepository([odd])
    const fs = await openGit(repository.path, { reader: 'git' })
    await fs[Symbol.asyncDispose]()
    await fs[Symbol.asyncDispose]()
    await expect(readText(fs, '/bin/run')).rejects.toMatchObject({ code: 'EBADF' })
  })

  it("runs no program from a repository's configuration", async () => {
    const place = join(scratch, 'hostile')
    git(['init', '-q', '--initial-branch=main', place])
    git(['-C', place, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '--allow-empty', '-m', 'x'])
    const witness = join(scratch, 'witness')
    for (const key of ['core.fsmonitor', 'core.sshCommand', 'core.pager'])
      git(['-C', place, 'config', key, `touch ${witness};`])
    git(['-C', place, 'config', 'remote.origin.url', `ext::touch ${witness}`])
    git(['-C', place, 'config', 'remote.origin.promisor', 'true'])
    const missing = '1234567890123456789012345678901234567890'
    await expect(openGit(place, { reader: 'git', ref: missing })).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOENT|EIO)$/),
    })
    await using fs = await openGit(place, { reader: 'git' })
    expect(await paths(fs)).toEqual([])
    expect(() => chownSync(witness, 0, 0)).toThrow('ENOENT')
  })

  it.skipIf(process.getuid?.() !== 0)(
    'is refused if it belongs to another user, unless trusted',
    async () => {
      const place = join(scratch, 'foreign')
      mkdirSync(place)
      writeFileSync(join(place, 'file'), 'x')
      git(['init', '-q', '--initial-branch=main', place])
      git(['-C', place, 'add', '.'])
      git(['-C', place, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '-m', 'x'])
      chownSync(place, 12_345, 12_345)
      await expect(openGit(place, { reader: 'git' })).rejects.toMatchObject({
        code: 'EACCES',
        message: expect.stringMatching('belongs to another user'),
      })
      await using fs = await openGit(place, { reader: 'git', trustOwner: true })
      expect(await readText(fs, '/file')).toBe('x')
    },
  )
})

it('is read by isomorphic-git if git is not installed', async () => {
  using repository = new TestRepository([odd])
  await using fs = await openGit(repository.path, { environment: { PATH: '/nowhere' } })
  expect(await readText(fs, '/bin/run')).toBe('#!/bin/sh\n')
})
