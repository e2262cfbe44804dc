import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MutationOp } from '../checked-file-system.ts'
import { isVfsError, VfsError } from '../error.ts'
import type { Capability, FileSystem, Stat } from '../file-system.ts'
import { move } from '../helpers/copy-move.ts'
import { readText } from '../helpers/file-content.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { child, dirname } from '../path.ts'
import { isLinkable } from '../protocols.ts'
import { OverlayFs } from './overlay-fs.ts'

const then = new Date('2001-02-03T04:05:06Z')
const later = new Date('2011-02-03T04:05:06Z')
const recursive = { recursive: true }

/** A clock of long ago that never shows one time twice: what an overlay changes has another time than lower's. */
function oldClock(): () => number {
  let now = 0
  return () => ++now
}

/** Everything about everything in a file system, by path. */
async function described(fs: FileSystem): Promise<Record<string, Stat & { content: string }>> {
  const found = { '/': { ...(await fs.stat('/')), content: '' } }
  for await (const { path } of fs.walk('/', { includeDirs: true })) {
    const stat = await fs.stat(path)
    const content =
      stat.type === 'symlink' && isLinkable(fs)
        ? await fs.readlink(path)
        : stat.type === 'file'
          ? await readText(fs, path)
          : ''
    Object.assign(found, { [path]: { ...stat, content } })
  }
  return found
}

/** Every directory with the names in it and its time. */
async function directoriesOf(fs: FileSystem): Promise<Map<string, { names: string; mtime: Date }>> {
  const found = new Map<string, { names: string; mtime: Date }>()
  const pending = ['/']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const entries = await Array.fromAsync(fs.readdir(path))
    const { mtime } = await fs.stat(path)
    found.set(path, { names: entries.map(({ name }) => name).join(), mtime })
    for (const { name, type } of entries) if (type === 'directory') pending.push(child(path, name))
  }
  return found
}

/** A lower layer of which one mutation fails. */
class Failing extends MemoryFs {
  readonly mutations: string[] = []
  failAt = Number.POSITIVE_INFINITY

  protected override assertMutable(op: MutationOp, path: string): void {
    super.assertMutable(op, path)
    if (this.mutations.push(op) === this.failAt) throw new VfsError('EIO', path, { op })
  }

  arm(failAt: number): void {
    this.mutations.length = 0
    this.failAt = failAt
  }
}

class FailingUnforkable extends Failing {
  override readonly capabilities: ReadonlySet<Capability> = new Set([
    'read',
    'write',
    'mkdir',
    'link',
    'setattr',
  ])
}

describe('a commit', () => {
  it('applies a changed time or mode without rewriting the content', async () => {
    const lower = new Failing({ '/d/timed': 'x', '/d/chmodded': 'y' })
    await lower.symlink('nowhere', '/d/link')
    const fs = new OverlayFs(lower)
    await fs.setattr('/d/timed', { mtime: then })
    await fs.setattr('/d/chmodded', { mode: 0o600 })
    await fs.setattr('/d/link', { mtime: then, ofLink: true })
    const shown = await described(fs)
    lower.arm(Number.POSITIVE_INFINITY)
    await fs.commit()
    expect(new Set(lower.mutations)).toEqual(new Set(['setattr']))
    expect(await described(lower)).toEqual(shown)
    expect((await lower.stat('/d/timed')).mtime).toEqual(then)
  })

  it('applies the modes and times of directories in both layers, including the root', async () => {
    const lower = new MemoryFs({ '/d/sub/f': 'x' })
    const fs = new OverlayFs(lower)
    await fs.setattr('/d/sub', { mode: 0o700 })
    await fs.setattr('/d', { mtime: then, mode: 0o750 })
    await fs.write('/d/sub/g', 'y')
    await fs.setattr('/d/sub', { mtime: later })
    await fs.setattr('/', { mode: 0o711, mtime: then })
    await fs.commit()
    expect(await lower.stat('/d')).toMatchObject({ mode: 0o750, mtime: then })
    expect(await lower.stat('/d/sub')).toMatchObject({ mode: 0o700, mtime: later })
    expect(await lower.stat('/')).toMatchObject({ mode: 0o711, mtime: then })
  })

  it('changes nothing without changes, and only the time of content written back', async () => {
    const lower = new Failing({ '/d/f': 'x' }, { now: oldClock() })
    const fs = new OverlayFs(lower)
    lower.arm(Number.POSITIVE_INFINITY)
    await fs.commit()
    expect(lower.mutations).toEqual([])
    await fs.write('/d/f', 'x')
    const shown = await described(fs)
    await fs.commit()
    expect(new Set(lower.mutations)).toEqual(new Set(['setattr']))
    expect(await described(lower)).toEqual(shown)
  })

  it('onto a file system without times applies modes with the content and ignores the rest', async () => {
    class Timeless extends MemoryFs {
      override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])
    }
    const lower = new Timeless({ '/d/f': 'x' })
    const fs = new OverlayFs(lower)
    await fs.setattr('/d/f', { mode: 0o600, mtime: then })
    await fs.setattr('/d', { mode: 0o700 })
    await fs.commit()
    expect((await lower.stat('/d/f')).mode).toBe(0o600)
    expect((await lower.stat('/d')).mode).toBe(0o755)
  })

  it('ignores the mode of a link if links have none', async () => {
    class Modeless extends MemoryFs {
      override setattr(...[path, changes, ctx]: Parameters<MemoryFs['setattr']>): Promise<void> {
        const isRefused = changes.ofLink === true && changes.mode !== undefined
        if (isRefused) return Promise.reject(new VfsError('ENOTSUP', path, { op: 'setattr' }))
        return super.setattr(path, changes, ctx)
      }
    }
    const lower = new Modeless()
    await lower.symlink('nowhere', '/link')
    const fs = new OverlayFs(lower)
    await fs.setattr('/link', { mode: 0o700, mtime: then, ofLink: true })
    await fs.commit()
    expect(await lower.stat('/link')).toMatchObject({ mode: 0o777, mtime: then })
  })

  it("into another user's directory leaves its time unset", async () => {
    class Foreign extends MemoryFs {
      override setattr(...[path, changes, ctx]: Parameters<MemoryFs['setattr']>): Promise<void> {
        if (path === '/d') return Promise.reject(new VfsError('EACCES', path, { op: 'setattr' }))
        return super.setattr(path, changes, ctx)
      }
    }
    const lower = new Foreign({ '/d/f': 'x' }, { now: oldClock() })
    const fs = new OverlayFs(lower)
    await fs.write('/d/g', 'y')
    await fs.commit()
    expect(await readText(lower, '/d/g')).toBe('y')
    await fs.setattr('/d', { mode: 0o700 })
    await expect(fs.commit()).rejects.toMatchObject({ code: 'EACCES' })
  })

  it.each([
    ['can fork', (seed: Record<string, string>) => new Failing(seed, { now: oldClock() })],
    ['cannot fork', (seed: Record<string, string>) => new FailingUnforkable(seed, { now: oldClock() })],
  ])('that fails leaves every mode and time of a lower that %s', async (_name, create) => {
    for (let failAt = 1; ; failAt++) {
      const lower = create({ '/d/f': '1', '/d/g': '2', '/gone/in': '3', '/again/f': '4', '/over': '5' })
      await lower.setattr('/gone/in', { mode: 0o400, mtime: then })
      const fs = new OverlayFs(lower)
      await fs.setattr('/d', { mode: 0o700, mtime: later })
      await fs.setattr('/d/f', { mode: 0o600 })
      await fs.remove('/d/g')
      await fs.remove('/gone', recursive)
      await fs.remove('/again', recursive)
      await fs.write('/again/g', 'x', { mode: 0o640 })
      await fs.write('/over', 'written')
      await fs.setattr('/', { mode: 0o700 })
      const [before, shown] = [await described(lower), await described(fs)]
      lower.arm(failAt)
      const failure = await fs.commit().catch((error: unknown) => error)
      if (failure === undefined) {
        expect(await described(lower)).toEqual(shown)
        expect(failAt).toBeGreaterThan(10)
        return
      }
      expect(isVfsError(failure, 'EIO')).toBe(true)
      expect(await described(lower), `lower after step ${failAt}`).toEqual(before)
      expect(await described(fs), `overlay after step ${failAt}`).toEqual(shown)
    }
  })
})

describe('the time of a directory', () => {
  it('is that of lower until a name in it changes', async () => {
    const lower = new MemoryFs({ '/a/b/f': 'x', '/a/c': 'y' })
    for (const path of ['/a/b', '/a', '/']) await lower.setattr(path, { mtime: then })
    const fs = new OverlayFs(lower)
    const timeOf = async (path: string) => (await fs.stat(path)).mtime
    expect(await timeOf('/')).toEqual(then)
    await fs.write('/a/b/new', 'z')
    expect(await timeOf('/a')).toEqual(then)
    expect(await timeOf('/a/b')).not.toEqual(then)
    await fs.remove('/a/c')
    expect(await timeOf('/a')).not.toEqual(then)
    expect(await timeOf('/')).toEqual(then)
    await fs.remove('/a', recursive)
    expect(await timeOf('/')).not.toEqual(then)
    await fs.discard()
    expect(await timeOf('/')).toEqual(then)
  })

  it.each([
    ['a mode', (fs: OverlayFs, file: string) => fs.setattr(file, { mode: 0o600 }), true],
    ['new content', (fs: OverlayFs, file: string) => fs.write(file, 'new'), true],
    ['more content', (fs: OverlayFs, file: string) => fs.append(file, 'more'), true],
    ['a new file', (fs: OverlayFs, file: string) => fs.write(`${file}.new`, 'new'), false],
    ['a second name', (fs: OverlayFs, file: string) => fs.link(file, `${file}.new`), false],
    ['a removal', (fs: OverlayFs, file: string) => fs.remove(file), false],
  ])('shows and brings to lower what %s is to it', async (_what, change, isKept) => {
    for (const file of ['/a/b/f', '/f']) {
      const lower = new MemoryFs({ '/a/b/f': 'x', '/f': 'y' })
      for (const path of ['/a/b', '/a', '/']) await lower.setattr(path, { mtime: then })
      const fs = new OverlayFs(lower)
      const directory = dirname(file)
      const keptIn = async (one: MemoryFs | OverlayFs) => {
        const paths = ['/', '/a', '/a/b']
        const times = await Promise.all(paths.map(async (path) => (await one.stat(path)).mtime))
        return paths.filter((_, at) => times[at]?.getTime() === then.getTime())
      }
      const kept = ['/', '/a', '/a/b'].filter((path) => isKept || path !== directory)
      await change(fs, file)
      expect(await keptIn(fs)).toEqual(kept)
      await fs.commit()
      expect(await keptIn(lower)).toEqual(kept)
      expect(await keptIn(fs)).toEqual(kept)
    }
  })

  it('stays when a file that is in upper already is written again, or a directory in it is copied up', async () => {
    const lower = new MemoryFs({ '/a/b/f': 'x', '/a/g': 'y' })
    for (const path of ['/a/b', '/a', '/']) await lower.setattr(path, { mtime: then })
    const fs = new OverlayFs(lower)
    for (const content of ['1', '2']) {
      await fs.write('/a/g', content)
      await fs.write('/a/b/f', content)
    }
    for (const path of ['/a/b', '/a', '/']) expect((await fs.stat(path)).mtime).toEqual(then)
  })

  it('is not restored by a slow write when a name was added or a time set meanwhile', async () => {
    for (const change of [
      (fs: OverlayFs) => fs.write('/d/new', ''),
      (fs: OverlayFs) => fs.remove('/d/g'),
      (fs: OverlayFs) => fs.setattr('/d', { mtime: later }),
    ]) {
      const lower = new MemoryFs({ '/d/f': 'x', '/d/g': 'y' })
      await lower.setattr('/d', { mtime: then })
      const fs = new OverlayFs(lower)
      await fs.write(
        '/d/f',
        (async function* () {
          yield Buffer.from('z')
          await change(fs)
        })(),
      )
      expect((await fs.stat('/d')).mtime).not.toEqual(then)
    }
  })

  it('is not restored when a name is added during a copy-up', async () => {
    class Busy extends MemoryFs {
      meanwhile: () => Promise<void> = () => Promise.resolve()
      override async setattr(...asked: Parameters<MemoryFs['setattr']>): Promise<void> {
        const { meanwhile } = this
        this.meanwhile = () => Promise.resolve()
        void meanwhile()
        // Long enough for anybody who does not wait for this to be done.
        for (let turn = 0; turn < 5; turn++) await nextTurn()
        return super.setattr(...asked)
      }
    }
    const lower = new MemoryFs({ '/a/b/f': 'x' })
    await lower.setattr('/a/b', { mtime: then })
    const upper = new Busy()
    const fs = new OverlayFs(lower, upper)
    const { promise: written, resolve } = Promise.withResolvers<void>()
    upper.meanwhile = () => fs.write('/a/b/new', '').then(resolve)
    await fs.setattr('/a/b', { mode: 0o700 })
    await written
    expect((await fs.stat('/a/b')).mtime).not.toEqual(then)
  })

  it('changes independently in a fork, and so does the mode', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/f': 'x' }))
    await fs.setattr('/', { mode: 0o700 })
    const fork = fs.fork()
    expect((await fork.stat('/')).mode).toBe(0o700)
    await fork.setattr('/', { mode: 0o711, mtime: then })
    expect([(await fs.stat('/')).mode, (await fork.stat('/')).mode]).toEqual([0o700, 0o711])
  })
})

describe('any sequence of operations', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
    .map((parts) => `/${parts.join('/')}`)
  const ops = ['write', 'append', 'mkdir', 'remove', 'move', 'symlink', 'setattr', 'setattr'] as const
  const step = fc.record({
    op: fc.constantFrom(...ops),
    path: fc.oneof({ weight: 9, arbitrary: path }, { weight: 1, arbitrary: fc.constant('/') }),
    other: path,
    content: fc.constantFrom('', 'x', 'y'),
    mode: fc.constantFrom(undefined, 0o600, 0o644, 0o755),
    mtime: fc.constantFrom(undefined, then, later),
    flag: fc.boolean(),
  })
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  async function perform(fs: OverlayFs | MemoryFs, asked: Step): Promise<void> {
    const { op, path, other, content, mode, mtime, flag } = asked
    const bits = mode === undefined ? {} : { mode }
    const calls = {
      write: () => fs.write(path, content, bits),
      append: () => fs.append(path, content),
      mkdir: () => fs.mkdir(path, { parents: flag, ...bits }),
      remove: () => fs.remove(path, recursive),
      move: () => move(fs, path, other, { overwrite: flag }),
      symlink: () => fs.symlink(other, path),
      setattr: () => fs.setattr(path, { ...bits, ...(mtime && { mtime }), ofLink: flag }),
    }
    try {
      await calls[op]()
    } catch (error) {
      if (!isVfsError(error)) throw error
    }
  }

  it('is committed with every mode and time as the overlay showed it', async () => {
    const steps = fc.array(step, { maxLength: 10 })
    const property = fc.asyncProperty(steps, steps, fc.boolean(), async (seed, changes, canFork) => {
      const lower = new (canFork ? Failing : FailingUnforkable)({}, { now: oldClock() })
      for (const one of seed) await perform(lower, one)
      const overlay = new OverlayFs(lower)
      for (const one of changes) await perform(overlay, one)
      const shown = await described(overlay)
      await overlay.commit()
      expect(await described(lower)).toEqual(shown)
      expect(await described(overlay)).toEqual(shown)
      expect(await overlay.diff()).toEqual({ added: [], modified: [], deleted: [] })
    })
    await fc.assert(property, { numRuns: 400 })
  })

  it('changes the time of a directory only if a name is added or removed', async () => {
    const begun = new Date()
    const steps = fc.array(step, { maxLength: 8 })
    const property = fc.asyncProperty(steps, steps, async (seed, changes) => {
      const lower = new MemoryFs({}, { now: oldClock() })
      for (const one of seed) await perform(lower, one)
      const overlay = new OverlayFs(lower)
      for (const change of changes) {
        // After a move, the names alone do not show which one was moved.
        if (change.op === 'move' || (change.op === 'setattr' && change.mtime)) continue
        const before = await directoriesOf(overlay)
        await perform(overlay, change)
        const after = await directoriesOf(overlay)
        for (const [path, { names, mtime }] of before) {
          const now = after.get(path)
          if (now === undefined) continue
          if (now.names === names) expect([path, now.mtime]).toEqual([path, mtime])
          else if (mtime < begun) expect([path, now.mtime]).not.toEqual([path, mtime])
        }
      }
    })
    await fc.assert(property, { numRuns: 400 })
  })
})
