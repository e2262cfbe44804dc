import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Home, openHome } from '../../backends/vault/index.ts'
import { createProcessTag } from '../../machine/index.ts'
import type { SessionChange } from '../session/index.ts'
import { LinkedDirectory, type LinkedFork, toStagedChanges } from './index.ts'
import { WriteLock } from './write-lock.ts'

/** A project of the user, and a directory with the changed files of a session. */
class Scene {
  readonly directory: string
  readonly upper: string
  readonly home: Home
  readonly link: LinkedDirectory
  readonly #changes: SessionChange[] = []

  constructor(home: Home) {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-link-')))
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
    this.directory = join(scratch, 'project')
    this.upper = join(scratch, 'upper')
    for (const path of [this.directory, this.upper]) mkdirSync(path)
    this.home = home
    this.link = new LinkedDirectory(home, this.directory)
  }

  user(path: string, text: string): void {
    const place = join(this.directory, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, text)
  }

  /** Creates an entry as a command would, and records the change of the session. */
  put(path: string, make: (place: string) => void, more: { linkOf?: string } = {}): void {
    const host = join(this.upper, path)
    mkdirSync(dirname(host), { recursive: true })
    rmSync(host, { recursive: true, force: true })
    make(host)
    const stats = lstatSync(host, { bigint: true })
    const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'symlink'
    const owner = { uid: Number(stats.uid), gid: Number(stats.gid) }
    this.#changes.push({
      ...{ kind: 'put', path, type, host, mode: Number(stats.mode), mtimeNs: stats.mtimeNs },
      ...{ ...owner, ...more },
    })
  }

  write(path: string, text: string): void {
    this.put(path, (place) => writeFileSync(place, text))
  }

  gone(path: string): void {
    this.#changes.push({ kind: 'gone', path })
  }

  /** Returns the changes of the session, and starts a new one. */
  take(): SessionChange[] {
    return this.#changes.splice(0)
  }

  async collect(fork?: LinkedFork, since = BigInt(Date.now() + 60_000) * 1_000_000n): Promise<LinkedFork> {
    const kept = await this.link.collect({ fork, changes: this.take(), since })
    if (kept === undefined) throw new Error('nothing was kept')
    return kept
  }

  async changed(fork: LinkedFork): Promise<string[]> {
    const changes = await Array.fromAsync(this.link.diff(fork))
    return changes.map(({ kind, path }) => `${kind} ${path}`)
  }

  content(): Record<string, string> {
    return treeOf(this.directory)
  }
}

async function scene(): Promise<Scene> {
  const home = await openHome()
  onTestFinished(() => home.close())
  return new Scene(home)
}

describe('a linked directory', () => {
  it('stores the changes of a command in a fork, and stays unchanged', async () => {
    const it = await scene()
    it.user('/a.txt', 'one\n')
    it.user('/src/b.txt', 'b\n')
    it.user('/src/untouched', 'u\n')
    const before = it.content()
    it.write('/a.txt', 'two\n')
    it.write('/new.txt', 'n\n')
    it.gone('/src/b.txt')
    const fork = await it.collect()
    expect(fork.name).toBe('project-1')
    expect(await it.changed(fork)).toEqual(['modified /a.txt', 'added /new.txt', 'deleted /src/b.txt'])
    expect(it.content()).toEqual(before)
    expect(await (await it.home.vault(fork.name)).exists('/src/untouched')).toBe(false)
  })

  it('stores nothing for a session without changes', async () => {
    const it = await scene()
    expect(await it.link.collect({ changes: [], since: 0n })).toBeUndefined()
    expect(await it.home.vaults()).toEqual([])
  })

  it('stores nothing if only times changed, unless the fork was named', async () => {
    const it = await scene()
    it.user('/same', 'same\n')
    it.write('/same', 'same\n')
    const changes = it.take()
    const since = BigInt(Date.now() + 60_000) * 1_000_000n
    expect(await it.link.collect({ changes, since })).toBeUndefined()
    expect(await it.home.vaults()).toEqual([])
    expect(await it.link.collect({ changes, since, name: 'mine' })).toMatchObject({ name: 'mine' })
  })

  it('reports directories that are added, removed, or get other permissions', async () => {
    const it = await scene()
    mkdirSync(join(it.directory, 'left'))
    mkdirSync(join(it.directory, 'kept'), 0o755)
    it.put('/kept', (place) => mkdirSync(place, 0o700))
    it.put('/new', (place) => mkdirSync(place))
    it.write('/file', 'f\n')
    it.gone('/left')
    expect(await it.changed(await it.collect())).toEqual([
      'added /file',
      'modified /kept',
      'deleted /left',
      'added /new',
    ])
  })

  it('applies a fork with all attributes', async () => {
    const it = await scene()
    it.user('/a.txt', 'one\n')
    it.user('/dir/deep/x', 'x')
    it.user('/dir/y', 'y')
    it.user('/file', 'was a file')
    it.user('/run.sh', 'echo')
    it.write('/a.txt', 'two\n')
    it.gone('/dir/deep')
    it.put('/dir/link', (place) => symlinkSync('../a.txt', place))
    it.put('/file', (place) => mkdirSync(place, 0o750))
    it.write('/file/in\nside', 'new')
    it.put('/run.sh', (place) => writeFileSync(place, 'echo', { mode: 0o755 }))
    it.put('/empty', (place) => mkdirSync(place))
    const fork = await it.collect()
    await it.link.apply(fork)
    expect(it.content()).toEqual({
      '/a.txt': '644 two\n',
      '/dir': '755 directory',
      '/dir/link': '-> ../a.txt',
      '/dir/y': '644 y',
      '/empty': '755 directory',
      '/file': '750 directory',
      '/file/in\nside': '644 new',
      '/run.sh': '755 echo',
    })
    expect(await it.changed(fork)).toEqual([])
  })

  it('applies a replaced directory, and one that became a file', async () => {
    const it = await scene()
    it.user('/d/old', 'o')
    it.user('/d/same', 's')
    it.user('/e/in/here', 'h')
    it.put('/d', (place) => mkdirSync(place))
    it.gone('/d/old')
    it.write('/d/same', 's')
    it.write('/e', 'now a file')
    const fork = await it.collect()
    expect(await it.changed(fork)).toEqual(['deleted /d/old', 'added /e', 'deleted /e/in/here'])
    await it.link.apply(fork)
    expect(it.content()).toEqual({ '/d': '755 directory', '/d/same': '644 s', '/e': '644 now a file' })
  })

  it('applies times before 1970, with their fractions', async () => {
    const it = await scene()
    const times = ['-1.5', '-0.000001', '-999999999.25']
    for (const time of times) {
      it.put(`/${time}`, (place) => {
        writeFileSync(place, 'old')
        utimesSync(place, time, time)
      })
    }
    await it.link.apply(await it.collect())
    for (const time of times) {
      const seconds = lstatSync(join(it.directory, time)).mtimeMs / 1000
      expect(seconds).toBeCloseTo(Number(time), 5)
    }
  })

  it('applies a copy of a directory in place of a link to it, and undoes it', async () => {
    const it = await scene()
    it.user('/real/a', 'a')
    it.user('/real/in/b', 'b')
    symlinkSync('real', join(it.directory, 'way'))
    const before = it.content()
    for (const path of ['/way', '/way/in']) it.put(path, (place) => mkdirSync(place))
    it.write('/way/a', 'a')
    it.write('/way/in/b', 'b')
    const fork = await it.collect()
    expect(await it.changed(fork)).toEqual(['deleted /way', 'added /way/a', 'added /way/in/b'])
    await it.link.apply(fork)
    expect(it.content()).toEqual({
      ...before,
      ...{ '/way': '755 directory', '/way/a': '644 a', '/way/in': '755 directory', '/way/in/b': '644 b' },
    })
    await it.link.undo(fork)
    expect(it.content()).toEqual(before)
  })

  it('keeps two names of one file as one file', async () => {
    const it = await scene()
    it.write('/one', 'shared')
    it.put('/another', (place) => linkSync(join(it.upper, 'one'), place), { linkOf: '/one' })
    const fork = await it.collect()
    const files = await it.home.posix(fork.name)
    expect(files.lookup(1, 'one')).toBe(files.lookup(1, 'another'))
  })

  it('continues in a fork, on top of its changes', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.user('/b', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    it.user('/b', 'changed by the user between two commands')
    it.write('/b', '3')
    it.write('/a', '4')
    const same = await it.collect(fork)
    expect(same.name).toBe(fork.name)
    expect(await it.changed(fork)).toEqual(['modified /a', 'modified /b'])
    await it.link.apply(fork)
    expect(it.content()).toEqual({ '/a': '644 4', '/b': '644 3' })
  })

  it('forgets a change that a later command reverted', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.user('/b', '1')
    it.write('/a', '2')
    it.write('/b', '2')
    it.write('/new', 'n')
    const fork = await it.collect()
    it.write('/b', '2')
    await it.collect(fork)
    expect(await it.changed(fork)).toEqual(['modified /b'])
  })

  it('knows the base of a fork, whatever the user changed before the next command', async () => {
    const it = await scene()
    it.user('/d/a', '1')
    it.write('/d/a', '2')
    const fork = await it.collect()
    it.user('/d/a', 'mine')
    it.gone('/d')
    await it.collect(fork)
    await expect(it.link.apply(fork)).rejects.toMatchObject({
      conflicts: [{ path: '/d/a', reason: 'changed meanwhile' }],
    })
  })

  it('never changes a home inside the directory', async () => {
    const it = await scene()
    const path = join(it.directory, 'state', 'home')
    const home = await openHome({ path })
    onTestFinished(() => home.close())
    const link = new LinkedDirectory(home, it.directory)
    it.write('/state/home/store.db', 'broken')
    it.write('/a', '1')
    const changes = it.take()
    const fork = await link.collect({ changes, since: 0n })
    expect(fork && (await link.listChanges(fork)).map(({ path }) => path)).toEqual(['/a'])
    it.gone('/state')
    await expect(link.collect({ changes: it.take(), since: 0n })).rejects.toMatchObject({ code: 'EPERM' })
  })

  it('stages the changes of a fork for the next session', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.user('/gone', 'g')
    it.user('/d/e/f', 'f')
    it.write('/a', '2')
    it.gone('/gone')
    it.write('/d', 'now a file')
    it.put('/link', (place) => symlinkSync('a', place))
    const staged = toStagedChanges(await it.link.listChanges(await it.collect()))
    expect(
      await Promise.all(staged.map(async (change) => [change.path, await formatStaged(change)])),
    ).toEqual([
      ['/a', '2'],
      ['/d', 'now a file'],
      ['/gone', 'gone'],
      ['/link', '-> a'],
    ])
  })
})

describe('an apply', () => {
  it('writes nothing if the user changed, created or removed any of its paths meanwhile', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.user('/b', '1')
    it.user('/d/in', 'i')
    it.write('/a', '2')
    it.write('/b', '2')
    it.write('/c', '2')
    it.gone('/d')
    const fork = await it.collect()
    it.user('/a', 'mine')
    rmSync(join(it.directory, 'b'))
    it.user('/c', 'mine')
    it.user('/d/stranger', 's')
    const before = it.content()
    await expect(it.link.apply(fork)).rejects.toMatchObject({
      code: 'ECONFLICT',
      conflicts: [
        { path: '/a', reason: 'changed meanwhile' },
        { path: '/b', reason: 'was removed meanwhile' },
        { path: '/c', reason: 'was created meanwhile' },
        { path: '/d/stranger', reason: 'was created meanwhile' },
      ],
    })
    expect(it.content()).toEqual(before)
    expect(await it.changed(fork)).toHaveLength(4)
  })

  it('refuses files that the user changed while the command ran', async () => {
    const it = await scene()
    it.user('/a', 'saved in an editor while the command ran')
    it.write('/a', '2')
    const fork = await it.collect(undefined, 0n)
    await expect(it.link.apply(fork)).rejects.toMatchObject({
      conflicts: [{ path: '/a', reason: 'changed while the command ran' }],
    })
    await expect(it.link.apply(fork, { merge: 'strict' })).rejects.toMatchObject({
      conflicts: [{ path: '/a', reason: expect.stringMatching(/^changed while the command ran, /) }],
    })
  })

  it('skips a path that already has its new state', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    it.write('/b', '2')
    const fork = await it.collect()
    it.user('/a', '2')
    await it.link.apply(fork)
    expect(it.content()).toEqual({ '/a': '644 2', '/b': '644 2' })
  })

  it('does not count as done because the base has the same content', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    await expect(it.home.merge(fork.name, fork.mirror)).rejects.toMatchObject({
      code: 'EINVAL',
      detail: expect.stringContaining(`use coppice apply ${fork.name}`),
    })
    // As in homes in which it was merged once.
    await (await it.home.vault(fork.mirror)).write('/a', '2')
    await expect(it.link.apply(fork)).rejects.toMatchObject({
      code: 'ECONFLICT',
      conflicts: [{ path: '/a', reason: `differs from ${fork.name}` }],
    })
    expect(it.content()).toEqual({ '/a': '644 1' })
  })

  it('replaces a link by a directory, and a directory by a link, and undoes both', async () => {
    const it = await scene()
    it.user('/elsewhere/x', 'not ours')
    symlinkSync('elsewhere', join(it.directory, 'link'))
    it.user('/dir/deep/x', 'x')
    const before = it.content()
    it.put('/link', (place) => mkdirSync(place))
    it.write('/link/x', 'new')
    it.put('/dir', (place) => symlinkSync('nowhere', place))
    const fork = await it.collect()
    await it.link.apply(fork)
    const after = it.content()
    expect(after).toEqual({
      '/dir': '-> nowhere',
      '/elsewhere': '755 directory',
      '/elsewhere/x': '644 not ours',
      '/link': '755 directory',
      '/link/x': '644 new',
    })
    await it.link.undo(fork)
    expect(it.content()).toEqual(before)
    await it.link.apply(fork)
    expect(it.content()).toEqual(after)
  })

  it('does not write through a link that was put in the way', async () => {
    const it = await scene()
    it.user('/d/a', '1')
    it.write('/d/a', '2')
    const fork = await it.collect()
    const elsewhere = join(it.upper, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'a'), '1')
    rmSync(join(it.directory, 'd'), { recursive: true })
    symlinkSync(elsewhere, join(it.directory, 'd'))
    await expect(it.link.apply(fork)).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(readFileSync(join(elsewhere, 'a'), 'utf8')).toBe('1')
  })

  it('can be undone, and repeated', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.user('/d/x', 'x')
    chmodSync(join(it.directory, 'd'), 0o710)
    it.write('/a', '2')
    it.gone('/d')
    it.write('/new', 'n')
    const before = it.content()
    const fork = await it.collect()
    await it.link.apply(fork)
    const after = it.content()
    await it.link.undo(fork)
    expect(it.content()).toEqual(before)
    expect(await it.changed(fork)).toHaveLength(3)
    await expect(it.link.undo(fork)).rejects.toMatchObject({ code: 'ENOENT' })
    await it.link.apply(fork)
    expect(it.content()).toEqual(after)
  })

  it('can still be undone after another apply with nothing to write', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    expect(await it.link.apply(fork)).toHaveLength(1)
    expect(await it.link.apply(fork)).toEqual([])
    await it.link.undo(fork)
    expect(it.content()).toEqual({ '/a': '644 1' })
  })

  it('leaves out changes that consist of setuid and setgid alone, unless they are kept', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.put('/a', (place) => {
      writeFileSync(place, '1')
      chmodSync(place, 0o6644)
    })
    const fork = await it.collect()
    expect(await it.link.apply(fork)).toEqual([])
    expect(it.content()).toEqual({ '/a': '644 1' })
    expect(await it.link.apply(fork, { keepSetuid: true })).toHaveLength(1)
    expect(it.content()).toEqual({ '/a': '6644 1' })
  })

  it('waits for another writer to the directory', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    const others = [it.link, new LinkedDirectory(it.home, it.directory), it.link]
    const written = await Promise.all(others.map((link) => link.apply(fork)))
    expect(written.map(({ length }) => length).sort()).toEqual([0, 0, 1])
    expect(it.content()).toEqual({ '/a': '644 2' })
    await it.link.undo(fork)
    expect(it.content()).toEqual({ '/a': '644 1' })
  })

  it('is not blocked by a file in the directory, whatever its name', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    // Names of a living process: earlier versions took such a name for a lock.
    for (const kind of ['turn', 'apply'])
      mkdirSync(join(it.directory, `.coppice-${kind}-${createProcessTag()}`))
    await it.link.apply(fork)
    expect(it.content()).toMatchObject({ '/a': '644 2' })
  })

  it('stops waiting for another when its signal aborts', async () => {
    const it = await scene()
    it.write('/a', '2')
    const fork = await it.collect()
    using _other = WriteLock.tryAcquire(it.home.path, it.directory)
    const waiting = it.link.apply(fork, { signal: AbortSignal.timeout(50) })
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(it.content()).toEqual({})
  })

  it('is not undone over later changes of the user', async () => {
    const it = await scene()
    it.user('/a', '1')
    it.write('/a', '2')
    const fork = await it.collect()
    await it.link.apply(fork)
    it.user('/a', 'mine')
    await expect(it.link.undo(fork)).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(it.content()).toEqual({ '/a': '644 mine' })
  })
})

it('a linked directory keeps no removal of entries that could not be restored', async () => {
  const it = await scene()
  const raw = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))
  const bad = Buffer.from([0xff])
  for (const name of ['name', 'link', 'pipe', 'fine']) it.user(`/${name}/deep/x`, 'x')
  writeFileSync(raw(it.directory, '/name/deep/', bad), '')
  symlinkSync(bad, join(it.directory, 'link/deep/l'))
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(it.directory, 'pipe/deep/p')])
  const canRemove = (path: string) => it.link.canKeep({ kind: 'gone', path })
  for (const name of ['name', 'link', 'pipe']) expect([name, canRemove(`/${name}`)]).toEqual([name, false])
  expect(canRemove('/link/deep/l')).toBe(false)
  expect(canRemove('/pipe/deep/p')).toBe(false)
  for (const path of ['/fine', '/pipe/deep/x', '/nothing/there']) expect(canRemove(path)).toBe(true)
  // The target of a link does not count.
  symlinkSync('pipe', join(it.directory, 'other'))
  expect(canRemove('/other/deep')).toBe(true)
})

it('a linked directory keeps every name except those reserved for stages', async () => {
  const { link } = await scene()
  const mark = createProcessTag()
  const canKeep = (path: string) => link.canKeep({ kind: 'gone', path })
  const own = [`/.coppice-apply-${mark}`, `/d/.coppice-apply-${mark}`, `/.coppice-apply-${mark}/new/0`]
  expect(own.filter(canKeep)).toEqual([])
  const plain = [
    '/.coppice-apply-x',
    '/.coppice-apply-',
    `/.coppice-apply-${mark}.txt`,
    `/coppice-apply-${mark}`,
  ]
  expect(plain.filter(canKeep)).toEqual(plain)
})

describe('the forks of a directory', () => {
  it('are listed most recently used first, and deleted with all their data', async () => {
    const it = await scene()
    it.write('/a', '1')
    const first = await it.collect()
    it.write('/a', '2')
    const second = await it.collect()
    expect((await it.link.listForks()).map(({ name }) => name)).toEqual([second.name, first.name])
    expect((await it.link.getFork()).name).toBe(second.name)
    await it.link.apply(second)
    await it.link.drop(second)
    await it.link.drop(first)
    expect(await it.home.vaults()).toEqual([])
    await expect(it.link.getFork()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('are not listed before they are complete, and deleted if their creator died', async () => {
    const it = await scene()
    it.write('/a', '1')
    const { mirror, name } = await it.collect()
    const others = await it.home.createVault('others')
    const record = { directory: it.directory, fork: '', used: 0 }
    const madeBy = async (maker: string) =>
      (await it.home.posix(mirror)).setxattr(
        1,
        'user.coppice.link',
        Buffer.from(JSON.stringify({ ...record, maker })),
      )
    const here = createProcessTag()
    await madeBy(here)
    expect(await it.link.listForks()).toEqual([])
    expect(await it.home.vaults()).toEqual([mirror, others.name, name])
    // The same process id with another start time.
    await madeBy(here.replace(/-\d+-([0-9a-f]+)$/, '-1-$1'))
    expect(await it.link.listForks()).toEqual([])
    expect(await it.home.vaults()).toEqual([others.name])
  })

  it('belong to this directory only', async () => {
    const it = await scene()
    it.write('/a', '1')
    await it.collect()
    mkdirSync(join(it.directory, 'sub'))
    expect(await new LinkedDirectory(it.home, join(it.directory, 'sub')).listForks()).toEqual([])
  })
})

/** Lists everything below a directory, with permissions and content. */
function treeOf(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const contents = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const mode = (lstatSync(path).mode & 0o7777).toString(8)
    if (entry.isSymbolicLink()) return [`/${relative(directory, path)}`, `-> ${readlinkSync(path)}`]
    const content = entry.isDirectory() ? 'directory' : readFileSync(path, 'utf8')
    return [`/${relative(directory, path)}`, `${mode} ${content}`]
  })
  return Object.fromEntries(contents.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}

async function formatStaged(change: ReturnType<typeof toStagedChanges>[number]): Promise<string> {
  if (change.kind === 'gone') return 'gone'
  if (change.target !== undefined) return `-> ${change.target}`
  return Buffer.concat(await Array.fromAsync(change.content?.() ?? [])).toString()
}
