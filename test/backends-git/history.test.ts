import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exportGit, importGit, openGit } from '../../src/backends/git/index.ts'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { diff, readText } from '../../src/vfs/index.ts'
import { git, type TestCommit, TestRepository } from '../support/git-repository.ts'

const SUBMODULE = 'c0ffee0000000000000000000000000000000000'
const scratch = mkdtempSync(join(tmpdir(), 'coppice-history-'))

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Two merged branches, changing types, and directories that appear and disappear. */
const history: readonly TestCommit[] = [
  { message: 'begin\n\nwith a body\n', files: { 'src/a.ts': 'one\n', 'docs/x': 'x', 'odd\n"name"': 'odd' } },
  {
    files: { 'src/a.ts': 'two\n', 'docs/x': null },
    executables: { run: '#!/bin/sh\n' },
    submodules: { lib: SUBMODULE },
  },
  { branch: 'side', parents: [0], files: { 'side/b': 'b\n' }, links: { src2: 'src' } },
  { parents: [1, 2], message: 'merge', files: { 'side/b': 'b\n' }, links: { src2: 'src' } },
  { files: { run: null, src2: null, 'run/now/a/directory': 'x' } },
  {
    author: 'Grace Hopper <grace@example.org>',
    executables: { 'src/a.ts': 'two\n' },
    files: { 'run/now/a/directory': null },
    links: { run: 'src/a.ts' },
  },
]

async function withHome(work: (home: Home) => Promise<void>): Promise<void> {
  await using home = await openHome({ engine: 'memory' })
  await home.createVault('v')
  await work(home)
}

describe('the history of a repository', () => {
  it('becomes checkpoints with the tree and the metadata of each commit', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      const report = await importGit(home, 'v', repository.path)
      expect(report).toMatchObject({ commits: 6, known: 0, commit: repository.git('rev-parse', 'main') })
      const vault = await home.vault('v')
      const checkpoints = await vault.checkpoints()
      for (const { name, meta = {} } of checkpoints) {
        await using commit = await openGit(repository.path, { ref: meta['git.commit'] ?? '' })
        expect(await Array.fromAsync(diff(vault.at(name), commit)), name).toEqual([])
      }
      expect(checkpoints[0]?.description).toBe('begin')
      expect(checkpoints[0]?.meta).toMatchObject({
        'git.message': 'begin\n\nwith a body\n',
        'git.author': 'Ada <ada@example.org> 1700000000 +0100',
      })
      expect((await vault.stat('/run')).mtime).toEqual(new Date(1_700_000_005_000))
      const versions = await Array.fromAsync(vault.versions('/src/a.ts'))
      expect(versions.map(({ trace }) => trace)).toEqual([
        `git:${repository.git('rev-parse', 'main')}`,
        `git:${repository.git('rev-parse', 'main~3')}`,
        `git:${repository.git('rev-parse', 'main~4')}`,
      ])
    })
  })

  it('is exported with the same ids, except for signatures, any number of times', async () => {
    for (const format of ['sha1', 'sha256']) {
      const commits = format === 'sha1' ? history : history.map((commit) => ({ ...commit, submodules: {} }))
      using repository = new TestRepository(commits, { format })
      await withHome(async (home) => {
        await importGit(home, 'v', repository.path)
        const out = join(scratch, `out-${format}`)
        for (const _ of [1, 2]) {
          const { commit } = await exportGit(home, 'v', out)
          expect(commit).toBe(repository.git('rev-parse', 'main'))
        }
        git(['--git-dir', out, 'fsck', '--strict'])
        expect(git(['--git-dir', out, 'rev-list', 'main']).toString()).toBe(
          `${repository.git('rev-list', 'main')}\n`,
        )
      })
    }
  })

  it('imports only new commits, and refuses to overwrite changes', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      await importGit(home, 'v', repository.path)
      repository.add([{ seconds: 1_700_000_100, files: { new: 'new\n' } }], 'main')
      expect(await importGit(home, 'v', repository.path)).toMatchObject({ commits: 1, known: 6 })
      expect(await importGit(home, 'v', repository.path)).toMatchObject({ commits: 0, known: 7 })
      const vault = await home.vault('v')
      expect(await readText(vault, '/new')).toBe('new\n')
      await vault.write('/mine', 'mine')
      repository.add([{ seconds: 1_700_000_200, files: { newer: 'x' } }], 'main')
      await expect(importGit(home, 'v', repository.path)).rejects.toMatchObject({ code: 'ECONFLICT' })
      using other = new TestRepository([{ files: { other: 'x' } }])
      await expect(importGit(home, 'v', other.path)).rejects.toMatchObject({ code: 'ECONFLICT' })
    })
  })

  it('leaves the vault at a complete commit when cancelled, and resumes there', async () => {
    using repository = new TestRepository(history)
    for (const last of [0, 1, 3, 5]) {
      await withHome(async (home) => {
        const controller = new AbortController()
        const onProgress = ({ done }: { done: number }) =>
          done === last && controller.abort(new Error('enough'))
        if (last === 0) controller.abort(new Error('enough'))
        const options = { signal: controller.signal, onProgress }
        await expect(importGit(home, 'v', repository.path, options)).rejects.toThrow('enough')
        const vault = await home.vault('v')
        const checkpoint = (await vault.checkpoints()).at(-1)
        const paths = (await Array.fromAsync(vault.walk('/'))).length
        if (checkpoint === undefined) expect(paths).toBe(0)
        else expect(await Array.fromAsync(vault.diff(checkpoint.name))).toEqual([])
        expect(await importGit(home, 'v', repository.path)).toMatchObject({ commits: 6 - last })
      })
    }
  })

  it('is reverted by the next import after a kill, twice over', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      const vault = await home.vault('v')
      for (const _ of [1, 2]) {
        // State after a kill: changes of a commit without a checkpoint.
        await vault.write('/half', 'x', {}, { trace: 'git:0123' })
        await importGit(home, 'v', repository.path)
        expect(await vault.exists('/half')).toBe(false)
      }
      await vault.write('/half', 'x', {}, { trace: 'git:4567' })
      await importGit(home, 'v', repository.path)
      expect(await vault.exists('/half')).toBe(false)
      expect(await exportGit(home, 'v', join(scratch, 'after-kill'))).toMatchObject({
        commit: repository.git('rev-parse', 'main'),
      })
    })
  })

  it('contains no concurrent changes of others', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      const vault = await home.vault('v')
      let isDone = false
      const onProgress = ({ done }: { done: number }) => {
        if (done === 1 && !isDone) void vault.write('/mine', 'mine')
        isDone ||= done === 1
      }
      await expect(importGit(home, 'v', repository.path, { onProgress })).rejects.toMatchObject({
        code: 'ECONFLICT',
        message: expect.stringMatching(/another writer/),
      })
      expect(await vault.checkpoints()).toHaveLength(1)
      expect(await readText(vault, '/mine')).toBe('mine')
    })
  })

  it('keeps concurrent changes of others when it is cancelled', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      const vault = await home.vault('v')
      const controller = new AbortController()
      const onProgress = () => {
        if (controller.signal.aborted) return
        void vault.write('/mine', 'mine')
        controller.abort(new Error('enough'))
      }
      const options = { onProgress, signal: controller.signal }
      await expect(importGit(home, 'v', repository.path, options)).rejects.toThrow('enough')
      expect(await readText(vault, '/mine')).toBe('mine')
    })
  })

  it('conflicts if two import at once, and is complete after the next import', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      const both = [importGit(home, 'v', repository.path), importGit(home, 'v', repository.path)]
      expect((await Promise.allSettled(both)).some(({ status }) => status === 'rejected')).toBe(true)
      await importGit(home, 'v', repository.path)
      const { commit } = await exportGit(home, 'v', join(scratch, 'both'))
      expect(commit).toBe(repository.git('rev-parse', 'main'))
    })
  })

  it('is refused for a name that is not UTF-8, and keeps the previous commit', async () => {
    using repository = new TestRepository([{ files: { fine: 'x' } }])
    const blob = repository.git('rev-parse', 'main:fine')
    const bytes = Buffer.concat([Buffer.from('100644 caf\xe9\0', 'latin1'), Buffer.from(blob, 'hex')])
    const tree = git(
      ['--git-dir', repository.path, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
      bytes,
    )
    const by = ['-c', 'user.name=a', '-c', 'user.email=b']
    const bad = repository.git(...by, 'commit-tree', '-p', 'main', '-m', 'bad', tree.toString().trim())
    await withHome(async (home) => {
      await expect(importGit(home, 'v', repository.path, { ref: bad })).rejects.toMatchObject({
        code: 'EINVAL',
        message: expect.stringMatching(/not UTF-8.*caf\\xe9/),
      })
      expect(await (await home.vault('v')).checkpoints()).toHaveLength(1)
    })
  })
})

describe('the checkpoints of a vault', () => {
  it('become successive commits, also after imported ones', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      await importGit(home, 'v', repository.path)
      const vault = await home.vault('v')
      await vault.rename('/src', '/lib2')
      await vault.write('/lib2/exec', 'x', { mode: 0o755 })
      await vault.checkpoint('mine', { description: 'What I did' })
      await vault.remove('/lib', { recursive: true })
      await vault.checkpoint('no-submodule')
      const out = join(scratch, 'continued')
      const report = await exportGit(home, 'v', out, { branch: 'agent/one', author: 'Ida <ida@example.org>' })
      expect(report).toMatchObject({ commits: 8, branch: 'agent/one', skipped: [] })
      const show = (...args: string[]) => git(['--git-dir', out, ...args]).toString()
      expect(show('log', '-2', '--format=%an %s', 'agent/one')).toBe('Ida no-submodule\nIda What I did\n')
      expect(show('rev-parse', 'agent/one~2').trim()).toBe(repository.git('rev-parse', 'main'))
      expect(show('ls-tree', 'agent/one~1', 'lib')).toContain(`160000 commit ${SUBMODULE}`)
      expect(show('ls-tree', 'agent/one', 'lib')).toBe('')
      expect(show('ls-tree', '-r', 'agent/one', 'lib2')).toMatch(/100755 .*lib2\/a.ts\n100755 .*lib2\/exec/s)
      await using commit = await openGit(out, { ref: 'agent/one' })
      expect(await Array.fromAsync(diff(vault, commit))).toEqual([])
    })
  })

  it('of a fork follow those of its base, so that git merges the branch', async () => {
    using repository = new TestRepository(history)
    await withHome(async (home) => {
      await importGit(home, 'v', repository.path)
      await (await home.vault('v')).checkpoint('same-name')
      const task = await home.fork('v', 'task')
      await (await home.vault('v')).write('/later', 'not of the fork')
      await (await home.vault('v')).checkpoint('later')
      await task.write('/src/new.ts', 'new\n')
      await task.checkpoint('same-name', { description: 'By an agent' })
      const place = join(scratch, 'merged')
      git(['clone', '-q', repository.path, place])
      await exportGit(home, 'task', place, { branch: 'task' })
      const show = (...args: string[]) => git(['-C', place, ...args]).toString()
      expect(show('log', '--format=%s', 'main..task')).toBe('By an agent\nsame-name\n')
      expect(show('diff', '--name-status', 'main', 'task')).toBe('A\tsrc/new.ts\n')
      show('-c', 'user.name=a', '-c', 'user.email=b', 'merge', '-q', 'task')
      expect(show('show', 'main:src/new.ts')).toBe('new\n')
      await (await home.fork('task', 'unsaved')).write('/x', 'x')
      await expect(exportGit(home, 'unsaved', place)).rejects.toMatchObject({ code: 'ENOENT' })
    })
  })

  it('extend an existing repository, forward only, and not a branch that is checked out', async () => {
    const place = join(scratch, 'worked-in')
    git(['init', '-q', '--initial-branch=main', place])
    git(['-C', place, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '--allow-empty', '-m', 'x'])
    git(['-C', place, 'branch', 'taken'])
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await expect(exportGit(home, 'v', place)).rejects.toMatchObject({ code: 'ENOENT' })
      await vault.write('/a', 'a')
      await vault.checkpoint('first')
      await expect(exportGit(home, 'v', place)).rejects.toMatchObject({ code: 'ECONFLICT' })
      await expect(exportGit(home, 'v', place, { branch: 'taken' })).rejects.toMatchObject({
        code: 'ECONFLICT',
      })
      await exportGit(home, 'v', place, { branch: 'vault' })
      await vault.write('/b', 'b')
      await vault.checkpoint('second')
      await exportGit(home, 'v', place, { branch: 'vault' })
      expect(git(['-C', place, 'log', '--format=%s', 'vault']).toString()).toBe('second\nfirst\n')
      expect(existsSync(join(place, 'a'))).toBe(false)
      for (const branch of ['--x', 'a b', '../up', 'x.lock', 'a..b'])
        await expect(exportGit(home, 'v', place, { branch }), branch).rejects.toMatchObject({
          code: 'EINVAL',
        })
    })
  })

  it('are refused if Git cannot store their files, and leave nothing behind', async () => {
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await vault.write('/deep/.git/config', 'x')
      await vault.checkpoint('bad')
      const before = readdirSync(scratch)
      await expect(exportGit(home, 'v', join(scratch, 'never'))).rejects.toThrow(
        "a repository cannot contain '.git'; remove it from the vault, save a checkpoint, and delete those that have it",
      )
      const controller = new AbortController()
      controller.abort(new Error('enough'))
      const aborted = exportGit(home, 'v', join(scratch, 'never'), { signal: controller.signal })
      await expect(aborted).rejects.toThrow('enough')
      expect(readdirSync(scratch)).toEqual(before)
    })
  })

  it('keep the metadata of a commit when the vault is sent to another home', async () => {
    using repository = new TestRepository([{ files: { a: 'a' } }])
    await withHome(async (home) => {
      const { checkpoint } = await importGit(home, 'v', repository.path)
      await using other = await openHome({ engine: 'memory' })
      await other.receive(home.send('v', { checkpoint }))
      const { commit } = await exportGit(other, 'v', join(scratch, 'received'))
      expect(commit).toBe(repository.git('rev-parse', 'main'))
    })
  })

  it('can be cloned', async () => {
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await vault.write('/run', '#!/bin/sh\n', { mode: 0o755 })
      await vault.symlink('run', '/link')
      await vault.checkpoint('one')
      const [out, clone] = [join(scratch, 'cloned-from'), join(scratch, 'clone')]
      await exportGit(home, 'v', out)
      execFileSync('git', ['clone', '-q', out, clone])
      expect(readdirSync(clone).sort()).toEqual(['.git', 'link', 'run'])
    })
  })
})
