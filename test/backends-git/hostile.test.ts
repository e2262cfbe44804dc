import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exportGit, importGit, openGit } from '../../src/backends/git/index.ts'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { git, TestRepository } from '../support/git-repository.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-hostile-'))

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

async function withHome(work: (home: Home) => Promise<void>): Promise<void> {
  await using home = await openHome({ engine: 'memory' })
  await home.createVault('v')
  await work(home)
}

/** Writes a raw object, valid or not. */
function objectOf({ path }: TestRepository, type: string, bytes: string | Uint8Array): string {
  const args = ['--git-dir', path, 'hash-object', '-t', type, '-w', '--literally', '--stdin']
  return git(args, Buffer.from(bytes)).toString().trim()
}

function treeOf(repository: TestRepository, entries: readonly (readonly [string, string])[]): string {
  const parts = entries.map(([head, id]) => Buffer.concat([Buffer.from(`${head}\0`), Buffer.from(id, 'hex')]))
  return objectOf(repository, 'tree', Buffer.concat(parts))
}

function commitOf(repository: TestRepository, tree: string, message = 'hostile\n'): string {
  const by = 'Eve <eve@example.org> 1700000000 +0000'
  return objectOf(repository, 'commit', `tree ${tree}\nauthor ${by}\ncommitter ${by}\n\n${message}`)
}

describe('a hostile repository', () => {
  it('with twelve levels of ten equal directories is read only as far as requested', async () => {
    using repository = new TestRepository([{ files: { fine: 'x' } }])
    const blob = repository.git('rev-parse', 'main:fine')
    const ten = Array.from({ length: 10 }, (_, at) => at)
    let tree = treeOf(repository, [['100644 f', blob]])
    for (const _ of [...ten, 10, 11])
      tree = treeOf(
        repository,
        ten.map((at) => [`40000 d${at}`, tree]),
      )
    await using fs = await openGit(repository.path, { ref: commitOf(repository, tree) })
    let files = 0
    for await (const _ of fs.walk('/')) if (++files === 200) break
    expect(files).toBe(200)
    await fs.materialize()
  })

  it('with a missing directory is walked up to it, despite the prefetch', async () => {
    const names = Array.from({ length: 1500 }, (_, at) => `d${at % 3}/s${at % 500}/u${at}/f`)
    using repository = new TestRepository([
      { files: Object.fromEntries(names.map((name, at) => [name, `${at}`])) },
    ])
    const whole = repository.git('rev-parse', 'main^{tree}')
    const nowhere = '1234567890123456789012345678901234567890'
    const tree = treeOf(repository, [
      ['40000 a', whole],
      ['40000 z', nowhere],
    ])
    const ref = commitOf(repository, tree)
    const seen: string[] = []
    const walkTo = async (most: number) => {
      await using fs = await openGit(repository.path, { ref })
      seen.length = 0
      for await (const { path } of fs.walk('/')) if (seen.push(path) === most) break
    }
    await expect(walkTo(2000)).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    expect(seen).toEqual(names.map((name) => `/a/${name}`).sort())
    // A reader that stops earlier sees no error.
    await walkTo(1400)
    expect(seen).toHaveLength(1400)
  })

  it('exposes no .git of its own, and none enters a vault', async () => {
    using repository = new TestRepository([{ files: { fine: 'x' } }])
    const blob = repository.git('rev-parse', 'main:fine')
    const inner = treeOf(repository, [['100644 config', blob]])
    const commit = commitOf(
      repository,
      treeOf(repository, [
        ['40000 .GIT', inner],
        ['40000 .git', inner],
        ['100644 fine', blob],
      ]),
    )
    await using fs = await openGit(repository.path, { ref: commit })
    expect((await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)).toEqual(['/fine'])
    await withHome(async (home) => {
      await expect(importGit(home, 'v', repository.path, { ref: commit })).rejects.toMatchObject({
        code: 'EINVAL',
        message: expect.stringMatching(/\.git/i),
      })
    })
  })

  it('with a link target of megabytes is refused when followed, and not imported', async () => {
    using repository = new TestRepository([{ files: { long: 'x'.repeat(5 * 1024 * 1024), fine: 'x' } }])
    const long = repository.git('rev-parse', 'main:long')
    const commit = commitOf(repository, treeOf(repository, [['120000 link', long]]))
    await using fs = await openGit(repository.path, { ref: commit })
    await expect(fs.readlink('/link')).rejects.toMatchObject({ code: 'EIO' })
    await withHome(async (home) => {
      await expect(importGit(home, 'v', repository.path, { ref: commit })).rejects.toMatchObject({
        code: 'EINVAL',
        path: '/link',
      })
    })
  })

  it('starts no program of its configuration when commits are written to it', async () => {
    const place = join(scratch, 'worked-in')
    const other = join(scratch, 'other')
    const mark = join(scratch, 'mark')
    git(['init', '-q', '--bare', other])
    git(['init', '-q', '--initial-branch=main', place])
    git(['-C', place, 'config', 'core.alternateRefsCommand', `touch ${mark}; true`])
    mkdirSync(join(place, '.git/objects/info'), { recursive: true })
    writeFileSync(join(place, '.git/objects/info/alternates'), `${other}/objects\n`)
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await vault.write('/a', 'a')
      await vault.checkpoint('first')
      await exportGit(home, 'v', place, { branch: 'agent' })
    })
    expect(existsSync(mark)).toBe(false)
  })

  it('preserves a byte order mark in messages', async () => {
    using repository = new TestRepository([{ message: '\ufeffbegin\n', files: { a: 'x' } }])
    await withHome(async (home) => {
      await importGit(home, 'v', repository.path)
      const { commit } = await exportGit(home, 'v', join(scratch, 'mark.git'))
      expect(commit).toBe(repository.git('rev-parse', 'main'))
    })
  })
})

describe('the export of a vault', () => {
  it('reports a problem with the target, and leaves nothing beside it', async () => {
    const [target, link] = [join(scratch, 'target'), join(scratch, 'link')]
    mkdirSync(target)
    symlinkSync(target, link)
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await vault.write('/a', 'a')
      await vault.checkpoint('first')
      await expect(exportGit(home, 'v', join(scratch, 'no/such/x.git'))).rejects.toMatchObject({
        code: 'ENOENT',
        path: join(scratch, 'no/such'),
      })
      await expect(exportGit(home, 'v', link)).rejects.toMatchObject({ code: 'EACCES', path: link })
      expect(readdirSync(scratch).filter((name) => name.includes('.tmp-'))).toEqual([])
    })
  })

  it('tolerates forged metadata', async () => {
    await withHome(async (home) => {
      const vault = await home.vault('v')
      await vault.write('/a', 'a')
      const by = 'Eve <eve@example.org> 1700000000 +0000'
      const commit = 'c0ffee0000000000000000000000000000000000'
      const notes = { 'git.commit': commit, 'git.committer': by, 'git.submodules': '{' }
      await vault.checkpoint('made-up', {
        meta: { ...notes, 'git.author': `${by}\nM 100644 inline b\ndata 1\nb` },
      })
      const out = join(scratch, 'made-up.git')
      await exportGit(home, 'v', out)
      await using fs = await openGit(out, { ref: 'main' })
      expect((await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)).toEqual(['/a'])
      expect(await readText(fs, '/a')).toBe('a')
    })
  })

  it('exports authors that Git would refuse as unknown', async () => {
    using repository = new TestRepository([{ files: { a: 'x' } }])
    const tree = repository.git('rev-parse', 'main^{tree}')
    const bare = objectOf(repository, 'commit', `tree ${tree}\n\nnobody\n`)
    const by = 'author Eve\ncommitter Eve <eve@example.org> then\n'
    const odd = objectOf(repository, 'commit', `tree ${tree}\nparent ${bare}\n${by}\nodd\n`)
    await withHome(async (home) => {
      await importGit(home, 'v', repository.path, { ref: odd })
      expect(await exportGit(home, 'v', join(scratch, 'odd.git'))).toMatchObject({ commits: 2 })
    })
  })
})
