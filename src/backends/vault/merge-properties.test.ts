import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  forkVault,
  fsck,
  MemoryEngine,
  MergeError,
  mergeVaults,
  type OnConflict,
  PosixFiles,
  type Resolution,
  StoreHome,
} from '../../store/index.ts'
import { dirname, isVfsError, readText } from '../../vfs/index.ts'
import { mergeUndoably, undoMerge } from './undoable-merge.ts'
import { Vault } from './vault.ts'

const acts = [
  'write',
  'write',
  'replace',
  'remove',
  'mkdir',
  'rename',
  'rename',
  'symlink',
  'chmod',
  'chown',
  'link',
  'xattr',
  'tag',
  'untag',
  'meta',
] as const
const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`)
const edit = fc.record({
  act: fc.constantFrom(...acts),
  path,
  to: path,
  value: fc.constantFrom('x', 'y', '\0z'),
})
const edits = fc.array(edit, { maxLength: 12 })
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

/** A vault by path and by inode. */
interface Subject {
  readonly vault: Vault
  readonly posix: PosixFiles
}

class Family {
  readonly home = new StoreHome(new MemoryEngine())

  async create(name: string): Promise<Subject> {
    return this.#subject(name, await this.home.createVault(name))
  }

  async fork(source: string, name: string): Promise<Subject> {
    return this.#subject(name, await forkVault(this.home, source, name))
  }

  merge(source: string, target: string, onConflict: OnConflict = 'fail'): ReturnType<typeof mergeVaults> {
    return mergeVaults(this.home, { source, target, onConflict })
  }

  async assertSound(): Promise<void> {
    expect((await fsck(this.home)).damaged).toEqual([])
  }

  #subject(name: string, log: Awaited<ReturnType<StoreHome['openVault']>>): Subject {
    return { vault: new Vault(this.home, name, log), posix: new PosixFiles(log, this.home.blobs) }
  }
}

/** What cannot be done is left. */
async function perform({ vault, posix }: Subject, steps: readonly Edit[], top = ''): Promise<void> {
  for (const step of steps) {
    const one = { ...step, path: top + step.path, to: top + step.to }
    try {
      await performOne(vault, posix, one)
    } catch (error) {
      if (!isVfsError(error)) throw error
    }
  }
}

async function performOne(vault: Vault, posix: PosixFiles, { act, path, to, value }: Edit): Promise<void> {
  const number = () => inodeAt(posix, path)
  switch (act) {
    case 'write':
      return vault.write(path, `${value} of ${path}\n`)
    case 'replace':
      await vault.write(`${path}~`, `${value} instead of ${path}\n`)
      return vault.rename(`${path}~`, path, { overwrite: true })
    case 'remove':
      return vault.remove(path, { recursive: true })
    case 'mkdir':
      return vault.mkdir(path, { parents: true })
    case 'rename':
      return vault.rename(path, to, { overwrite: value === 'x' })
    case 'symlink':
      // As `ln -sf` does: a link that is there is replaced.
      await vault.symlink(to, `${path}~`)
      return vault.rename(`${path}~`, path, { overwrite: true })
    case 'chmod':
      return posix.setattr(number(), { mode: value === 'x' ? 0o700 : 0o755 })
    case 'chown':
      return posix.setattr(number(), { uid: value === 'x' ? 1 : 2, gid: 3 })
    case 'link':
      return posix.link(number(), inodeAt(posix, dirname(to)), to.slice(to.lastIndexOf('/') + 1))
    case 'xattr':
      return posix.setxattr(number(), `user.${to}`, Buffer.from(value))
    case 'tag':
      return vault.tags.add(path, [value.replace('\0', ''), to])
    case 'untag':
      return vault.tags.remove(path, to)
    case 'meta':
      return vault.meta.set(path, to, value)
  }
}

function inodeAt(posix: PosixFiles, path: string): number {
  const names = path.split('/').filter((part) => part !== '')
  return names.reduce((at, part) => posix.lookup(at, part) ?? 0, PosixFiles.root)
}

/** Everything there is below a directory, but times. Names of one file tell of the first of them. */
async function stateOf({ vault, posix }: Subject, top = '/'): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {}
  const firstNames = new Map<number, string>()
  for await (const { path, stat } of vault.walk(top, { includeDirs: true })) {
    const number = inodeAt(posix, path)
    const { mode, uid, gid, nlink } = posix.getattr(number)
    if (!firstNames.has(number)) firstNames.set(number, path)
    state[path] = {
      content: stat.type === 'file' ? await readText(vault, path) : undefined,
      target: stat.type === 'symlink' ? posix.readlink(number) : undefined,
      type: stat.type,
      owner: { mode, uid, gid },
      names: stat.type === 'directory' ? undefined : [nlink, firstNames.get(number)],
      xattrs: posix.listxattr(number).map((key) => `${key}=${posix.getxattr(number, key)}`),
      tags: await vault.tags.of(path),
      meta: await vault.meta.all(path),
    }
  }
  return state
}

/** Creates a vault and a fork of it with changes of both. */
async function diverge(
  before: readonly Edit[],
  ours: readonly Edit[],
  theirs: readonly Edit[],
): Promise<{ family: Family; base: Subject }> {
  const family = new Family()
  const base = await family.create('base')
  await perform(base, before)
  const task = await family.fork('base', 'task')
  await perform(base, ours)
  await perform(task, theirs)
  return { family, base }
}

async function rowsOf({ vault }: Subject): Promise<number> {
  return (await Array.fromAsync(vault.journal())).length
}

/** A file of two names, each of which is then another file, or gone. */
const twoNames: [Edit[], Edit[], Edit[]][] = [
  [[act('write', '/a'), act('link', '/a', '/c')], [], [act('replace', '/c'), act('remove', '/a')]],
  [[act('write', '/a'), act('link', '/a', '/c')], [], [act('replace', '/c'), act('replace', '/a')]],
  [[], [act('write', '/c'), act('link', '/c', '/a')], [act('write', '/a')]],
]

function act(act: Edit['act'], path: string, to = path): Edit {
  return { act, path, to, value: 'x' }
}

describe('a merge of random changes', () => {
  it('into an unchanged vault makes it equal to the fork, repeatedly', async () => {
    const property = fc.asyncProperty(edits, edits, edits, async (before, first, second) => {
      const family = new Family()
      const base = await family.create('base')
      await perform(base, before)
      const task = await family.fork('base', 'task')
      for (const steps of [first, second]) {
        await perform(task, steps)
        await family.merge('task', 'base')
        expect(await stateOf(base)).toEqual(await stateOf(task))
        const rows = await rowsOf(base)
        expect(await family.merge('task', 'base')).toEqual([])
        expect(await rowsOf(base)).toBe(rows)
      }
      await family.assertSound()
    })
    await fc.assert(property, { numRuns: 150, examples: twoNames })
  })

  it('works in both directions', async () => {
    const side = fc.constantFrom('base', 'task')
    const round = fc.record({ side, steps: edits })
    const property = fc.asyncProperty(edits, fc.array(round, { maxLength: 4 }), async (before, rounds) => {
      const family = new Family()
      const base = await family.create('base')
      await perform(base, before)
      const task = await family.fork('base', 'task')
      for (const { side, steps } of rounds) {
        await perform(side === 'base' ? base : task, steps)
        await family.merge(side, side === 'base' ? 'task' : 'base')
        expect(await stateOf(base)).toEqual(await stateOf(task))
      }
      await family.assertSound()
    })
    await fc.assert(property, { numRuns: 100 })
  })

  it('combines changes in different directories', async () => {
    const property = fc.asyncProperty(edits, edits, edits, async (before, ours, theirs) => {
      const family = new Family()
      const base = await family.create('base')
      for (const top of ['/ours', '/theirs']) {
        await base.vault.mkdir(top)
        await perform(base, before, top)
      }
      const task = await family.fork('base', 'task')
      await perform(base, ours, '/ours')
      await perform(task, theirs, '/theirs')
      const expected = { ...(await stateOf(base, '/ours')), ...(await stateOf(task, '/theirs')) }
      await family.merge('task', 'base')
      const actual = {}
      for (const top of ['/ours', '/theirs']) Object.assign(actual, await stateOf(base, top))
      expect(actual).toEqual(expected)
      await family.assertSound()
    })
    await fc.assert(property, { numRuns: 100 })
  })

  it('succeeds or changes nothing, and always succeeds if a side is selected', async () => {
    const seen = new Set<boolean>()
    const property = fc.asyncProperty(edits, edits, edits, async (before, ours, theirs) => {
      const { family } = await diverge(before, ours, theirs)
      const answers = ['fail', 'ours', 'theirs', 'markers'] as const
      for (const answer of answers) {
        const target = await family.fork('base', answer)
        const state = await stateOf(target)
        const conflicts = await family.merge('task', answer, answer).then(() => [], conflictsIn)
        if (answer === 'fail') seen.add(conflicts.length > 0)
        else expect(conflicts).toEqual([])
        if (conflicts.length > 0) expect(await stateOf(target)).toEqual(state)
        else expect(await family.merge('task', answer)).toEqual([])
        expect(conflicts).toEqual([...new Set(conflicts)].sort())
        expect(target.posix.readdir(PosixFiles.root).filter(({ name }) => name.includes('/'))).toEqual([])
      }
      await family.assertSound()
    })
    await fc.assert(property, { numRuns: 150 })
    expect(seen.size).toBe(2)
  })

  it('has its conflicts resolved one at a time, as by one answer to all', async () => {
    const seen = new Set<number>()
    const property = fc.asyncProperty(edits, edits, edits, async (before, ours, theirs) => {
      const { family } = await diverge(before, ours, theirs)
      const whole = await family.fork('base', 'whole')
      await family.merge('task', 'whole', 'ours')
      for (const answer of ['ours', 'theirs', 'union'] as const) {
        const target = await family.fork('base', answer)
        const state = await stateOf(target)
        const resolutions = new Map<string, Resolution>()
        const request = { source: 'task', target: answer, onConflict: 'fail', resolutions } as const
        for (;;) {
          const open = await mergeVaults(family.home, { ...request, isTrial: true }).then(
            () => [],
            conflictsIn,
          )
          expect(await stateOf(target)).toEqual(state)
          expect(open.filter((path) => resolutions.has(path))).toEqual([])
          if (open[0] === undefined) break
          resolutions.set(open[0], answer)
        }
        seen.add(resolutions.size)
        await mergeVaults(family.home, request)
        if (answer === 'ours') expect(await stateOf(target)).toEqual(await stateOf(whole))
      }
      await family.assertSound()
    })
    const write = (path: string, value: Edit['value']): Edit => ({ ...act('write', path), value })
    const twoConflicts: [Edit[], Edit[], Edit[]] = [
      [],
      [write('/a', 'x'), write('/b', 'x')],
      [write('/a', 'y'), write('/b', 'y')],
    ]
    await fc.assert(property, { numRuns: 100, examples: [twoConflicts] })
    expect(seen).toContain(2)
  })

  it('is undone to the state before, and can then be repeated', async () => {
    const property = fc.asyncProperty(edits, edits, edits, async (before, ours, theirs) => {
      const { family, base } = await diverge(before, ours, theirs)
      const [state, request] = [
        await stateOf(base),
        { source: 'task', target: 'base', onConflict: 'theirs' } as const,
      ]
      const changes = await mergeUndoably(family.home, request)
      const merged = await stateOf(base)
      if (changes.length > 0) {
        // Their number may differ: what replaces a directory is one change, and takes two to undo.
        expect(await undoMerge(family.home, 'base')).not.toEqual([])
        expect(await stateOf(base)).toEqual(state)
        await mergeUndoably(family.home, request)
      }
      expect(await stateOf(base)).toEqual(merged)
      await family.assertSound()
    })
    await fc.assert(property, { numRuns: 100 })
  })

  it('without a conflict gives the same files in either direction', async () => {
    const property = fc.asyncProperty(edits, edits, edits, async (before, one, other) => {
      const family = new Family()
      const base = await family.create('base')
      await perform(base, before)
      const [left, right] = [await family.fork('base', 'left'), await family.fork('base', 'right')]
      await perform(left, one)
      await perform(right, other)
      const copy = await family.fork('left', 'copy')
      const conflicts = await family.merge('right', 'copy').then(() => [], conflictsIn)
      const opposite = await family.merge('left', 'right').then(() => [], conflictsIn)
      if (conflicts.length + opposite.length === 0)
        expect(await contentsOf(copy)).toEqual(await contentsOf(right))
    })
    await fc.assert(property, { numRuns: 150 })
  })
})

function conflictsIn(error: unknown): string[] {
  if (error instanceof MergeError) return error.conflicts.map(({ path }) => path)
  throw error
}

async function contentsOf({ vault }: Subject): Promise<string[]> {
  const contents: string[] = []
  for await (const { path, stat } of vault.walk('/', { includeDirs: true })) {
    const content = stat.type === 'file' ? await readText(vault, path) : ''
    contents.push(`${path} ${stat.type === 'symlink' ? await vault.readlink(path) : content}`)
  }
  return contents
}
