import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Home, openHome } from '../../backends/vault/index.ts'
import { LinkedDirectory, type LinkedFork, type LinkHome } from './index.ts'

/** All calls that change a directory or a home. A process killed at one of them makes none of the later ones. */
const CHANGES = [
  ...['chmodSync', 'fchmodSync', 'fchownSync', 'futimesSync', 'lchownSync', 'linkSync', 'lutimesSync'],
  ...['mkdirSync', 'renameSync'],
  ...['rmSync', 'rmdirSync', 'symlinkSync', 'unlinkSync', 'writeFileSync'],
] as const

class Killed extends Error {}

/** Counts changes, and blocks all from the n-th on. */
class Executioner {
  #left: number
  isDone = false
  /** Number of changes that were made. */
  changes = 0

  constructor(changes: number) {
    this.#left = changes
  }

  pass<T>(change: () => T): T {
    this.#left--
    this.isDone ||= this.#left <= 0
    if (this.isDone) throw new Killed()
    this.changes++
    return change()
  }

  /** Runs work whose process is killed at that change, if it gets there. */
  async run(work: () => Promise<unknown>): Promise<void> {
    const real = Object.fromEntries(CHANGES.map((name) => [name, Reflect.get(fs, name)]))
    const patched = Object.entries(real).map(([name, change]) => {
      return [name, (...words: unknown[]) => this.pass(() => Reflect.apply(change, fs, words))]
    })
    Object.assign(fs, Object.fromEntries(patched))
    syncBuiltinESMExports()
    try {
      await work()
    } catch (error) {
      if (!this.isDone) throw error
    } finally {
      Object.assign(fs, real)
      syncBuiltinESMExports()
    }
  }

  home(home: Home): LinkHome {
    return {
      path: home.path,
      vaults: () => home.vaults(),
      vault: (name) => home.vault(name),
      info: (name) => home.info(name),
      createVault: (name) => this.pass(() => home.createVault(name)),
      fork: (source, name) => this.pass(() => home.fork(source, name)),
      deleteVault: (name) => this.pass(() => home.deleteVault(name)),
      listTouchedPaths: (base, name) => home.listTouchedPaths(base, name),
      restoreFork: (name, state) => this.pass(() => home.restoreFork(name, state)),
      posix: async (name) => {
        const files = await home.posix(name)
        const [batch, setxattr] = [files.batch.bind(files), files.setxattr.bind(files)]
        return Object.assign(files, {
          batch: (work: () => void) => this.pass(() => batch(work)),
          setxattr: (...words: Parameters<typeof setxattr>) => this.pass(() => setxattr(...words)),
        })
      },
    }
  }
}

const before = { a: 'one', d: null, 'd/y': 'y', e: 'a file', same: 's' }
const after = { a: 'two', d: 'a file', e: null, 'e/z': 'z', link: '-> a', same: 's' }

function contentOf(directory: string): Record<string, string | null> {
  const entries = fs.readdirSync(directory, { recursive: true, withFileTypes: true })
  const contents = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const content = entry.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : undefined
    const text = entry.isDirectory() ? null : (content ?? fs.readFileSync(path, 'utf8'))
    return [relative(directory, path), text] as const
  })
  return Object.fromEntries(contents)
}

function make(directory: string, tree: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(tree)) {
    if (text === null) fs.mkdirSync(join(directory, path))
    else if (text.startsWith('-> ')) fs.symlinkSync(text.slice(3), join(directory, path))
    else fs.writeFileSync(join(directory, path), text)
  }
}

/** Creates a directory with a fork that changes it from one tree to another. Permissions of `a` may change too. */
async function scene(mode = 0o644): Promise<{ home: Home; directory: string; fork: LinkedFork }> {
  const scratch = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'coppice-killed-')))
  onTestFinished(() => fs.rmSync(scratch, { recursive: true, force: true }))
  const [directory, upper] = [join(scratch, 'project'), join(scratch, 'upper')]
  for (const path of [directory, upper]) fs.mkdirSync(path)
  make(directory, before)
  make(upper, after)
  fs.chmodSync(join(upper, 'a'), mode)
  const home = await openHome()
  onTestFinished(() => home.close())
  const fork = await collect(home, directory, upper, ['a', 'd', 'e', 'e/z', 'link'])
  return { home, directory, fork }
}

const MANY = Array.from({ length: 20 }, (_, index) => `f${index}`)

/** Lets 3 ms pass with each look at the time, so that the removal of a few files takes long. */
function slowDown(): void {
  let now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 3))
  onTestFinished(() => clock.mockRestore())
}

/** Creates a directory with a fork that changes many files, and a home on the disk. */
async function manyFiles(): Promise<{ home: Home; directory: string; fork: LinkedFork; sessions: string }> {
  const scratch = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'coppice-killed-')))
  onTestFinished(() => fs.rmSync(scratch, { recursive: true, force: true }))
  const [directory, upper, path] = [join(scratch, 'project'), join(scratch, 'upper'), join(scratch, 'home')]
  for (const each of [directory, upper]) fs.mkdirSync(each)
  make(directory, Object.fromEntries(MANY.map((name) => [name, 'old'])))
  make(upper, Object.fromEntries(MANY.map((name) => [name, 'new'])))
  const home = await openHome({ path })
  onTestFinished(() => home.close())
  return {
    home,
    directory,
    fork: await collect(home, directory, upper, MANY),
    sessions: join(path, 'sessions'),
  }
}

/** Stores files of a directory as the changes of a command. */
async function collect(
  home: Home,
  directory: string,
  upper: string,
  paths: readonly string[],
): Promise<LinkedFork> {
  const changes = paths.map((path) => {
    const host = join(upper, path)
    const stats = fs.lstatSync(host, { bigint: true })
    const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'symlink'
    const owner = { uid: Number(stats.uid), gid: Number(stats.gid) }
    const put = { kind: 'put', path: `/${path}`, type, host } as const
    return { ...put, ...owner, mode: Number(stats.mode), mtimeNs: stats.mtimeNs }
  })
  const since = BigInt(Date.now() + 60_000) * 1_000_000n
  const fork = await new LinkedDirectory(home, directory).collect({ changes, since })
  if (fork === undefined) throw new Error('nothing was kept')
  return fork
}

/** Adds a fork with some files to a directory. */
function addFork(
  home: Home,
  directory: string,
  files: Readonly<Record<string, string>>,
): Promise<LinkedFork> {
  const upper = fs.mkdtempSync(`${directory}-more-`)
  make(upper, files)
  return collect(home, directory, upper, Object.keys(files))
}

it.each(['apply', 'undo'] as const)(
  'an %s that is killed at any step is completed or reverted by the next process',
  async (act) => {
    const outcomes: (string | undefined)[] = []
    for (let at = 1; ; at++) {
      const { home, directory, fork } = await scene()
      const next = new LinkedDirectory(home, directory)
      if (act === 'undo') await next.apply(fork)
      const executioner = new Executioner(at)
      await executioner.run(() => new LinkedDirectory(executioner.home(home), directory)[act](fork))
      const [recovery, ...more] = await next.recover()
      expect(more).toEqual([])
      const { outcome } = recovery ?? {}
      outcomes.push(outcome)
      const [begun, done] = act === 'apply' ? [before, after] : [after, before]
      const isDone = outcome === 'finished' || !executioner.isDone
      expect({ at, outcome, content: contentOf(directory) }).toEqual({
        at,
        outcome,
        content: isDone ? done : begun,
      })
      // Every later process sees the same: written changes are no longer pending, and can be undone.
      const isApplied = (act === 'apply') === isDone
      expect((await next.listChanges(fork)).length > 0).toBe(!isApplied)
      expect(await next.recover()).toEqual([])
      if (isApplied) await next.undo(fork)
      else await next.apply(fork)
      expect(contentOf(directory)).toEqual(isApplied ? before : after)
      if (!executioner.isDone) break
    }
    expect(new Set(outcomes)).toEqual(new Set([undefined, 'taken-back', 'finished']))
    expect(outcomes.length).toBeGreaterThan(30)
  },
)

it.each(['apply', 'undo'] as const)(
  'an %s of two forks with merges that is killed at any step is completed or reverted as a whole',
  async (act) => {
    const outcomes = new Set<string | undefined>()
    for (let at = 1; ; at++) {
      const { home, directory, fork: first } = await scene()
      const next = new LinkedDirectory(home, directory)
      const second = await addFork(home, directory, { same: 's2', fresh: 'f' })
      fs.writeFileSync(join(directory, 'same'), 's2')
      fs.rmSync(join(directory, 'a'))
      const begun = contentOf(directory)
      const options = { merge: 'markers' } as const
      const done = { ...after, same: 's2', fresh: 'f' }
      if (act === 'undo') await next.apply([first, second], options)
      const executioner = new Executioner(at)
      await executioner.run(() => {
        const link = new LinkedDirectory(executioner.home(home), directory)
        return act === 'apply' ? link.apply([first, second], options) : link.undo(second)
      })
      const [recovery, ...more] = await next.recover()
      expect(more).toEqual([])
      outcomes.add(recovery?.outcome)
      const isDone = recovery?.outcome === 'finished' || !executioner.isDone
      const isApplied = (act === 'apply') === isDone
      expect({ at, content: contentOf(directory) }).toEqual({ at, content: isApplied ? done : begun })
      for (const fork of [first, second])
        expect((await next.listChanges(fork)).length > 0, `${at}`).toBe(!isApplied)
      if (isApplied) await next.undo(first)
      else await next.apply([first, second], options)
      expect(contentOf(directory)).toEqual(isApplied ? begun : done)
      if (!executioner.isDone) break
    }
    expect(outcomes).toEqual(new Set([undefined, 'taken-back', 'finished']))
  },
)

it.each(['apply', 'undo'] as const)(
  'an %s that is killed while it removes many replaced files is completed by the next process',
  async (act) => {
    slowDown()
    const outcomes: (string | undefined)[] = []
    const begin = async (executioner: Executioner) => {
      const { home, directory, fork } = await manyFiles()
      const next = new LinkedDirectory(home, directory)
      if (act === 'undo') await next.apply(fork)
      await executioner.run(() => new LinkedDirectory(executioner.home(home), directory)[act](fork))
      return { directory, next }
    }
    const whole = new Executioner(Number.POSITIVE_INFINITY)
    await begin(whole)
    for (let at = whole.changes; outcomes.at(-1) !== 'taken-back'; at--) {
      const { directory, next } = await begin(new Executioner(at))
      const [recovery] = await next.recover()
      outcomes.push(recovery?.outcome)
      const isNew = (act === 'apply') === (recovery?.outcome === 'finished')
      const contents = Object.values(contentOf(directory))
      expect({ at, contents }).toEqual({ at, contents: MANY.map(() => (isNew ? 'new' : 'old')) })
    }
    expect(outcomes.length).toBeGreaterThan(8)
    expect(outcomes.slice(0, -1).every((outcome) => outcome === 'finished')).toBe(true)
  },
)

it('an apply of many files leaves nothing of the replaced ones', async () => {
  slowDown()
  const { home, directory, fork, sessions } = await manyFiles()
  await new LinkedDirectory(home, directory).apply(fork)
  expect(Object.values(contentOf(directory))).toEqual(MANY.map(() => 'new'))
  await vi.waitFor(() => expect(fs.readdirSync(sessions)).toEqual([]))
})

it('an apply of many files removes the replaced ones itself where the home cannot take them', async () => {
  slowDown()
  const { home, directory, fork, sessions } = await manyFiles()
  fs.writeFileSync(sessions, '')
  await new LinkedDirectory(home, directory).apply(fork)
  expect(Object.values(contentOf(directory))).toEqual(MANY.map(() => 'new'))
})

it('an undo of a merge that is killed at any step is completed by the next one', async () => {
  for (let at = 1; ; at++) {
    const { home, directory, fork } = await scene()
    const link = new LinkedDirectory(home, directory)
    const before = await link.listChanges(fork)
    const other = await addFork(home, directory, { same: 's2', fresh: 'f' })
    await link.mergeForks(other, fork)
    const executioner = new Executioner(at)
    await executioner.run(() => new LinkedDirectory(executioner.home(home), directory).undoMerge(fork))
    // Without the state after the merge, it is undone.
    if (executioner.isDone) await link.undoMerge(fork).catch((error) => expect(error.code).toBe('ENOENT'))
    const changes = await link.listChanges(fork)
    expect(changes.map(({ path }) => path)).toEqual(before.map(({ path }) => path))
    if (!executioner.isDone) break
  }
})

it('an apply that is completed after a kill leaves setuid bits pending', async () => {
  for (let at = 1; ; at++) {
    const { home, directory, fork } = await scene(0o4755)
    const executioner = new Executioner(at)
    await executioner.run(() => new LinkedDirectory(executioner.home(home), directory).apply(fork))
    const next = new LinkedDirectory(home, directory)
    const [recovery] = await next.recover()
    expect(executioner.isDone).toBe(true)
    if (recovery?.outcome !== 'finished') continue
    expect(fs.statSync(join(directory, 'a')).mode & 0o7777).toBe(0o755)
    expect((await next.listChanges(fork)).map(({ path }) => path)).toEqual(['/a'])
    break
  }
})

/** Puts a directory where a stage has its plan: removing the stage fails until the directory is removed. */
function blockStage(directory: string): void {
  for (const plan of findPlans(directory)) {
    fs.rmSync(plan)
    fs.mkdirSync(plan)
  }
}

function findPlans(directory: string): string[] {
  const stages = fs.readdirSync(directory).filter((name) => name.startsWith('.coppice-apply-'))
  return stages.map((stage) => join(directory, stage, 'plan.json'))
}

it.each(['apply', 'undo'] as const)(
  'an %s is done even if its stage cannot be removed, which a later command does',
  async (act) => {
    const { home, directory, fork } = await scene()
    const link = new LinkedDirectory(home, directory)
    if (act === 'undo') await link.apply(fork)
    const blocking: LinkHome = {
      ...new Executioner(Number.POSITIVE_INFINITY).home(home),
      posix: async (name) => {
        const files = await home.posix(name)
        const setxattr = files.setxattr.bind(files)
        return Object.assign(files, {
          setxattr: (...words: Parameters<typeof setxattr>) => {
            setxattr(...words)
            if (Buffer.from(words[2]).includes('"step":"written"')) blockStage(directory)
          },
        })
      },
    }
    await new LinkedDirectory(blocking, directory)[act](fork)
    const [plan = ''] = findPlans(directory)
    expect(fs.statSync(plan).isDirectory()).toBe(true)
    expect(await link.recover()).toEqual([])
    expect((await link.listChanges(fork)).length > 0).toBe(act === 'undo')
    fs.rmdirSync(plan)
    await link.listForks()
    expect(contentOf(directory)).toEqual(act === 'apply' ? after : before)
  },
)
