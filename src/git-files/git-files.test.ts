import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { diff, MemoryFs } from '../vfs/index.ts'
import {
  describeGitSummary,
  isKeptByGit,
  isOverlapPath,
  parsePackedRefs,
  removePackedRefs,
  type SeparatedChanges,
  separateGitChanges,
} from './index.ts'

/** Files of a repository, by path. */
type Files = Readonly<Record<string, string | Uint8Array>>

interface Commit {
  readonly id: string
  readonly files: Files
}

function createCommit(message: string, parents: readonly string[] = [], git = '/.git'): Commit {
  const text = [`tree ${'0'.repeat(40)}`, ...parents.map((id) => `parent ${id}`), '', message].join('\n')
  const object = `commit ${text.length}\0${text}`
  const id = createHash('sha1').update(object).digest('hex')
  return { id, files: { [`${git}/objects/${id.slice(0, 2)}/${id.slice(2)}`]: deflateSync(object) } }
}

async function separate(
  before: Files,
  after: Files,
): Promise<{ changes: SeparatedChanges['changes']; git: string | undefined }> {
  const trees = { before: new MemoryFs(before), after: new MemoryFs(after) }
  const { changes, git } = await separateGitChanges(diff(trees.before, trees.after), trees)
  return { changes, git: git && describeGitSummary(git) }
}

describe('changes of git', () => {
  const [first, side] = [createCommit('first'), createCommit('side')]
  const second = createCommit('second', [first.id])
  const merge = createCommit('merge', [second.id, side.id])
  const begun = {
    '/.git/HEAD': 'ref: refs/heads/main\n',
    '/.git/refs/heads/main': `${first.id}\n`,
    ...first.files,
  }

  it('are the commits of each branch, as far as they are new', async () => {
    const after = {
      ...begun,
      ...second.files,
      ...side.files,
      ...merge.files,
      '/.git/refs/heads/main': second.id,
      '/.git/refs/heads/feat': merge.id,
      '/.git/logs/HEAD': 'log',
      '/.git/index': 'index',
      '/a.txt': 'a',
    }
    const { changes, git } = await separate(begun, after)
    expect(changes.map(({ path }) => path)).toEqual(['/a.txt'])
    expect(git).toBe('3 commits on feat, 1 commit on main')
  })

  it('name branches that moved, appeared or went without a commit', async () => {
    const main = { '/.git/refs/heads/main': second.id }
    expect(
      await separate({ ...begun, ...second.files, ...main }, { ...begun, ...second.files }),
    ).toMatchObject({
      git: 'main moved',
    })
    const tagged = { ...begun, '/.git/refs/tags/v1': first.id }
    expect(await separate(begun, tagged)).toMatchObject({ git: 'tags/v1 created' })
    expect(await separate(tagged, begun)).toMatchObject({ git: 'tags/v1 deleted' })
    expect(await separate({}, { '/.git/index': 'x', '/.git/ORIG_HEAD': first.id })).toMatchObject({
      git: '2 files below .git',
    })
    expect(await separate({ '/a': '1' }, { '/a': '2' })).toMatchObject({ git: undefined })
  })

  it('name what is checked out now, a branch or a commit, in a repository that was there before', async () => {
    const topic = { ...begun, '/.git/HEAD': 'ref: refs/heads/topic/a\n' }
    expect(await separate(begun, topic)).toMatchObject({ git: 'topic/a checked out' })
    const detached = {
      ...begun,
      ...second.files,
      '/.git/HEAD': `${second.id}\n`,
      '/.git/refs/heads/x': second.id,
    }
    expect(await separate(begun, detached)).toMatchObject({
      git: `1 commit on x, ${second.id.slice(0, 7)} checked out`,
    })
    expect(await separate({}, begun)).toMatchObject({ git: '1 commit on main' })
    const inside = { '/lib/.git/HEAD': 'ref: refs/heads/main' }
    expect(await separate(inside, { '/lib/.git/HEAD': 'ref: refs/heads/b' })).toMatchObject({
      git: 'b of /lib checked out',
    })
    expect(await separate(inside, { '/lib/.git/HEAD': 'x' })).toMatchObject({ git: '1 file below .git' })
  })

  it('name the repository where it is not that of the project, and count what is too much to name', async () => {
    const own = createCommit('own', [], '/lib/.git')
    expect(await separate({}, { ...own.files, '/lib/.git/refs/heads/main': own.id })).toMatchObject({
      git: '1 commit on main of /lib',
    })
    const refs = Array.from({ length: 7 }, (_, at) => [`/.git/refs/heads/b${at}`, first.id])
    expect((await separate(begun, { ...begun, ...Object.fromEntries(refs) })).git).toMatch(
      /^b0 created, .*b4 created, 2 more refs$/,
    )
  })

  it('name a branch only if its commit changed, wherever git keeps it', async () => {
    const header = '# pack-refs with: peeled fully-peeled sorted \n'
    const { '/.git/refs/heads/main': _loose, ...rest } = begun
    const packed = { ...rest, '/.git/packed-refs': `${header}${first.id} refs/heads/main\n` }
    expect(await separate(begun, packed)).toMatchObject({ git: '2 files below .git' })
    expect(await separate(packed, begun)).toMatchObject({ git: '2 files below .git' })
    const lines = `${header}${second.id} refs/heads/feat\n${second.id} refs/heads/main\n`
    expect(await separate(begun, { ...rest, ...second.files, '/.git/packed-refs': lines })).toMatchObject({
      git: '1 commit on feat, 1 commit on main',
    })
    expect(await separate(packed, { ...packed, '/.git/packed-refs': header })).toMatchObject({
      git: 'main deleted',
    })
    expect(await separate(packed, { ...packed, '/.git/refs/heads/main': first.id })).toMatchObject({
      git: '1 file below .git',
    })
  })

  it('read packed refs with the names that git allows, and remove some of them', () => {
    const names = ['refs/heads/a', 'refs/tags/v1', 'refs/heads/b']
    const text = `# header\n${first.id} ${names[0]}\n${first.id} ${names[1]}\n^${second.id}\n${side.id} ${names[2]}\n`
    expect([...(parsePackedRefs(Buffer.from(text)) ?? [])].map(([name]) => name)).toEqual(names)
    const left = removePackedRefs(Buffer.from(text), new Set(['refs/tags/v1', 'refs/heads/a']))
    expect(Buffer.from(left).toString()).toBe(`# header\n${side.id} ${names[2]}\n`)
    const bad = [
      'refs/../a',
      'refs/heads/../../x',
      'HEAD',
      'refs//a',
      'refs/.a',
      'refs/a.lock/b',
      'refs/a\0',
      'refs/a\\b',
    ]
    const damaged = bad.map((name) => `${first.id} ${name}\n`).join('')
    expect(parsePackedRefs(Buffer.from(damaged))?.size).toBe(0)
  })

  it('survive content that is no repository', async () => {
    const damaged = {
      '/.git/refs/heads/main': 'x'.repeat(5000),
      '/.git/refs/heads/none': 'f'.repeat(40),
      '/.git/refs/heads/bad': first.id,
      [Object.keys(first.files)[0] ?? '']: 'not compressed',
    }
    expect(await separate({}, damaged)).toMatchObject({
      changes: [],
      git: 'bad created, main created, none created',
    })
  })

  it('never hide what git runs', () => {
    for (const path of ['/.git/hooks/pre-commit', '/.git/config', '/a/.git/info/attributes', '/.gitmodules'])
      expect(isKeptByGit(path), path).toBe(false)
    for (const path of ['/.git/hooks/pre-commit.sample', '/.git/packed-refs', '/lib/.git/modules/m/index'])
      expect(isKeptByGit(path), path).toBe(true)
  })

  it('never hide a link, which may lead to hooks, nor objects of other repositories', async () => {
    for (const path of ['/.git/hooks', '/.git/refs/heads/main', '/.git/index'])
      expect(isKeptByGit(path, 'symlink'), path).toBe(false)
    expect(isKeptByGit('/.git/hooks', 'directory')).toBe(true)
    expect(isKeptByGit('/.git/objects/info/alternates')).toBe(false)
    const after = new MemoryFs({ '/.git/index': 'x' })
    await after.symlink('../evil', '/.git/hooks')
    const { changes } = await separateGitChanges(diff(new MemoryFs(), after), { after })
    expect(changes.map(({ path }) => path)).toEqual(['/.git/hooks'])
  })

  it('overlap at branches, not at logs, objects or the index', () => {
    for (const path of ['/a', '/.git/config', '/.git/refs/heads/main'])
      expect(isOverlapPath(path), path).toBe(true)
    for (const path of ['/.git/HEAD', '/.git/logs/HEAD', '/.git/index', '/.git/objects/ab/cd'])
      expect(isOverlapPath(path), path).toBe(false)
  })
})
