import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError, VfsError } from '../error.ts'
import type {
  Capability,
  Content,
  FileSystem,
  MaterializeOptions,
  MkdirOptions,
  RemoveOptions,
  Stat,
  WriteOptions,
} from '../file-system.ts'
import { move } from '../helpers/copy-move.ts'
import { readText } from '../helpers/file-content.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { isLinkable } from '../protocols.ts'
import { ReadOnlyFs } from '../read-only-fs.ts'
import { OverlayFs } from './overlay-fs.ts'

/** Everything in a file system: a file's content, a link's target, a directory's nothing, by path. */
type Snapshot = Readonly<Record<string, string>>

async function snapshot(fs: FileSystem): Promise<Snapshot> {
  const found: Record<string, string> = {}
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    if (stat.type === 'directory') found[path] = 'directory'
    else if (stat.type === 'symlink' && isLinkable(fs)) found[path] = `-> ${await fs.readlink(path)}`
    else found[path] = `file ${await readText(fs, path)}`
  }
  return found
}

async function names(fs: FileSystem, path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name }) => name)
}

const recursive = { recursive: true }

/** A lower layer whose mutations fail from one on: only that one, or all that follow. */
class Faulty extends MemoryFs {
  mutations = 0
  failAt = Number.POSITIVE_INFINITY
  staysBroken = false

  #step(path: string, op: string): void {
    this.mutations++
    const fails = this.staysBroken ? this.mutations >= this.failAt : this.mutations === this.failAt
    if (fails) throw new VfsError('EIO', path, { op, detail: 'out of order' })
  }

  /** Fails the n-th mutation from now. */
  arm(failAt: number): void {
    this.mutations = 0
    this.failAt = failAt
  }

  override symlink(target: string, path: string): Promise<void> {
    this.#step(path, 'symlink')
    return super.symlink(target, path)
  }
  protected override doWrite(path: string, content: Content, options: WriteOptions): void | Promise<void> {
    this.#step(path, 'write')
    return super.doWrite(path, content, options)
  }
  protected override doMkdir(path: string, options: MkdirOptions): void {
    this.#step(path, 'mkdir')
    super.doMkdir(path, options)
  }
  protected override doRemove(path: string, options: RemoveOptions): void {
    this.#step(path, 'remove')
    super.doRemove(path, options)
  }
}

/** The same without `fork`, so that a commit has to keep copies. */
class FaultyUnforkable extends Faulty {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir', 'link'])
}

async function filled<T extends MemoryFs>(fs: T, files: Readonly<Record<string, string>>): Promise<T> {
  for (const [path, content] of Object.entries(files)) await fs.write(path, content)
  return fs
}

describe('whiteouts', () => {
  it('hide a file of lower until a write recreates the name with new content', async () => {
    const lower = new MemoryFs({ '/d/f': 'low', '/d/g': 'low' })
    const fs = new OverlayFs(lower)
    await fs.remove('/d/f')
    expect(await names(fs, '/d')).toEqual(['g'])
    await expect(fs.remove('/d/f')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(fs.stat('/d/f')).rejects.toMatchObject({ code: 'ENOENT', path: '/d/f' })
    await fs.write('/d/f', 'up')
    await fs.remove('/d/f')
    expect(await fs.exists('/d/f')).toBe(false)
    expect(await readText(lower, '/d/f')).toBe('low')
  })

  it('of a directory hide everything below it, also after it is created again', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/f': '1', '/d/sub/g': '2', '/dx/h': '3' }))
    await fs.remove('/d', recursive)
    expect(await snapshot(fs)).toEqual({ '/dx': 'directory', '/dx/h': 'file 3' })
    await fs.write('/d/sub/new', '4')
    expect(await names(fs, '/d')).toEqual(['sub'])
    expect(await names(fs, '/d/sub')).toEqual(['new'])
    await expect(readText(fs, '/d/sub/g')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(fs.remove('/d/f')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('let a file in a recreated directory be removed as often as it is written', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/f': '1', '/d/sub/g': '2' }))
    await fs.remove('/d', recursive)
    for (let round = 0; round < 3; round++) {
      await fs.write('/d/f', 'again')
      await fs.write('/d/sub/g', 'again')
      await fs.remove('/d/f')
      await fs.remove('/d/sub', recursive)
      expect(await names(fs, '/d')).toEqual([])
    }
    await fs.remove('/d', recursive)
    expect(await snapshot(fs)).toEqual({})
  })

  it('cover earlier whiteouts: a directory removed after its parts stays hidden as a whole', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/a/b/c/f': '1', '/a/b/g': '2', '/a/h': '3' }))
    await fs.remove('/a/b/c/f')
    await fs.remove('/a/b', recursive)
    await fs.mkdir('/a/b')
    expect(await snapshot(fs)).toEqual({ '/a': 'directory', '/a/b': 'directory', '/a/h': 'file 3' })
  })

  it('let a file replace a directory and the reverse', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/x/in': '1', '/y': '2' }))
    await fs.remove('/x', recursive)
    await fs.write('/x', 'file now')
    await expect(fs.stat('/x/in')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(fs.write('/x/in', '')).rejects.toMatchObject({ code: 'ENOTDIR' })
    await fs.remove('/x')
    await fs.mkdir('/x')
    await fs.remove('/y')
    await fs.write('/y/in', 'directory now')
    expect(await snapshot(fs)).toEqual({
      '/x': 'directory',
      '/y': 'directory',
      '/y/in': 'file directory now',
    })
  })

  it('survive a failed removal in upper', async () => {
    const upper = new Faulty()
    const fs = new OverlayFs(new MemoryFs({ '/d/gone': '1', '/d/kept': '2' }), upper)
    await fs.remove('/d/gone')
    await fs.write('/d/new', '3')
    const before = await snapshot(fs)
    upper.arm(1)
    await expect(fs.remove('/d', recursive)).rejects.toMatchObject({ code: 'EIO' })
    expect(await snapshot(fs)).toEqual(before)
  })
})

describe('upper', () => {
  it('may have content from the start, and wins', async () => {
    const lower = new MemoryFs({ '/both': 'low', '/dir/low': '1', '/type/in': '2', '/other': '3' })
    const upper = new MemoryFs({ '/both': 'up', '/dir/up': '4', '/type': 'a file', '/other/in': '5' })
    const fs = new OverlayFs(lower, upper)
    expect(await snapshot(fs)).toEqual({
      '/both': 'file up',
      '/dir': 'directory',
      '/dir/low': 'file 1',
      '/dir/up': 'file 4',
      '/other': 'directory',
      '/other/in': 'file 5',
      '/type': 'file a file',
    })
    expect([await fs.exists('/type/in'), await fs.exists('/other/in')]).toEqual([false, true])
    expect(await fs.diff()).toEqual({
      added: ['/dir/up', '/other/in', '/type'],
      modified: ['/both'],
      deleted: ['/other', '/type/in'],
    })
  })

  it('gets the modes of what is copied up, and new content keeps the mode', async () => {
    const lower = new MemoryFs()
    await lower.mkdir('/d', { mode: 0o700 })
    await lower.write('/d/f', 'x', { mode: 0o600 })
    const fs = new OverlayFs(lower)
    await fs.append('/d/f', 'y')
    expect([(await fs.stat('/d')).mode, (await fs.stat('/d/f')).mode]).toEqual([0o700, 0o600])
    await fs.write('/d/f', 'z')
    expect((await fs.stat('/d/f')).mode).toBe(0o600)
  })

  it('may be a file system without directories', async () => {
    class Flat extends MemoryFs {
      override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write'])
    }
    const fs = new OverlayFs(new MemoryFs({ '/low/f': '1' }), new Flat())
    await fs.write('/new/deep/f', '2')
    await fs.write('/low/g', '3')
    await fs.append('/low/f', '+')
    expect(await readText(fs, '/low/f')).toBe('1+')
    expect(await readText(fs, '/new/deep/f')).toBe('2')
  })

  it('is left without a trace by a write that fails', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/low/f': '1' }))
    const before = await snapshot(fs)
    const broken = async function* () {
      yield 'half'
      throw new Error('the source broke')
    }
    await expect(fs.write('/new/deep/f', broken())).rejects.toThrow('the source broke')
    await expect(fs.write('/low/sub/f', broken())).rejects.toThrow('the source broke')
    await expect(fs.append('/also/new', broken())).rejects.toThrow('the source broke')
    expect(await snapshot(fs)).toEqual(before)
    expect(await fs.diff()).toEqual({ added: [], modified: [], deleted: [] })
  })
})

describe('attributes and second names', () => {
  const then = new Date('2001-02-03T04:05:06Z')

  it('are staged: lower keeps its own until a commit', async () => {
    const lower = new MemoryFs({ '/d/f': 'x', '/d/g': 'y' })
    await lower.setattr('/d/f', { mtime: then, mode: 0o640 })
    await lower.setattr('/d', { mtime: then, mode: 0o750 })
    const fs = new OverlayFs(lower)
    await fs.setattr('/d/f', { mode: 0o600 })
    expect(await fs.stat('/d/f')).toEqual({ type: 'file', size: 1, mtime: then, mode: 0o600 })
    await fs.setattr('/d', { mode: 0o700 })
    expect(await fs.stat('/d')).toMatchObject({ mode: 0o700 })
    expect((await lower.stat('/d/f')).mode).toBe(0o640)
    expect(await fs.diff()).toMatchObject({ modified: ['/d/f'] })
    await fs.commit()
    expect((await lower.stat('/d/f')).mode).toBe(0o600)
  })

  it('of a lower file bring it to upper, where both names are one file', async () => {
    const lower = new MemoryFs({ '/d/f': 'x' })
    const fs = new OverlayFs(lower)
    await fs.link('/d/f', '/d/twin')
    await fs.write('/d/twin', 'both')
    expect(await readText(fs, '/d/f')).toBe('both')
    expect((await fs.identity('/d/f')).nlink).toBe(2)
    expect(await readText(lower, '/d/f')).toBe('x')
    await fs.commit()
    expect([await readText(lower, '/d/f'), await readText(lower, '/d/twin')]).toEqual(['both', 'both'])
  })

  it('keep the inode numbers of the two layers distinct', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/low': '' }), new MemoryFs({ '/up': '' }))
    expect((await fs.identity('/low')).ino).not.toBe((await fs.identity('/up')).ino)
  })
})

describe('capabilities', () => {
  it("are lower's read side with upper's write side", () => {
    const readOnly = new ReadOnlyFs(new MemoryFs())
    expect(new OverlayFs(readOnly).capabilities).toEqual(
      new Set(['read', 'native-read', 'write', 'mkdir', 'fork', 'link', 'hardlink', 'setattr', 'append']),
    )
    const frozen = new OverlayFs(new MemoryFs(), readOnly).capabilities
    for (const mutation of ['write', 'mkdir', 'append'] as const) expect(frozen.has(mutation)).toBe(false)
  })

  it('without write make every mutation EROFS', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/f': 'x' }), new ReadOnlyFs(new MemoryFs()))
    for (const mutation of [
      () => fs.write('/f', ''),
      () => fs.append('/f', ''),
      () => fs.mkdir('/d'),
      () => fs.remove('/f'),
      () => fs.symlink('f', '/l'),
    ]) {
      await expect(mutation()).rejects.toMatchObject({ code: 'EROFS' })
    }
  })
})

describe('diff', () => {
  const none = { added: [], modified: [], deleted: [] }

  it('is empty for an overlay without changes', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/f': 'x', '/g': 'y' }))
    expect(await fs.diff()).toEqual(none)
    await readText(fs, '/d/f')
    expect(await fs.diff()).toEqual(none)
  })

  it('ignores content written back unchanged, removed and restored, or created and removed', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/f': 'x', '/e/g': 'y' }))
    await fs.write('/d/f', 'other')
    await fs.write('/d/f', 'x')
    await fs.append('/e/g', '')
    await fs.remove('/e', recursive)
    await fs.write('/e/g', 'y')
    await fs.write('/new/f', 'z')
    await fs.remove('/new', recursive)
    await fs.mkdir('/d', { parents: true })
    expect(await fs.diff()).toEqual(none)
  })

  it('detects changed content of the same length', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/f': 'abc' }))
    await fs.write('/f', 'abd')
    expect(await fs.diff()).toEqual({ ...none, modified: ['/f'] })
  })

  it('detects what is missing in a recreated directory, at any depth', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/d/sub/deep/f': '1', '/d/sub/deep/g': '2', '/d/h': '3' }))
    await fs.remove('/d', recursive)
    await fs.write('/d/sub/deep/f', '1')
    expect(await fs.diff()).toEqual({ ...none, deleted: ['/d/h', '/d/sub/deep/g'] })
  })

  it('lists a directory only if it is empty on one side and missing on the other', async () => {
    const lower = new MemoryFs({ '/full/f': 'x' })
    await lower.mkdir('/empty')
    const fs = new OverlayFs(lower)
    await fs.remove('/empty', recursive)
    await fs.remove('/full/f')
    await fs.mkdir('/made')
    await fs.mkdir('/made/deeper')
    expect(await fs.diff()).toEqual({ added: ['/made/deeper'], modified: [], deleted: ['/empty', '/full/f'] })
  })

  it('compares links by their targets', async () => {
    const lower = new MemoryFs({ '/f': 'x' })
    await lower.symlink('f', '/same')
    await lower.symlink('f', '/other')
    const fs = new OverlayFs(lower)
    for (const link of ['/same', '/other']) await fs.remove(link)
    await fs.symlink('f', '/same')
    await fs.symlink('g', '/other')
    expect(await fs.diff()).toEqual({ ...none, modified: ['/other'] })
  })
})

describe('commit', () => {
  it('applies everything to lower and empties the overlay', async () => {
    const lower = new MemoryFs({ '/keep': '1', '/change': '2', '/gone/f': '3', '/dir/f': '4', '/file': '5' })
    const fs = new OverlayFs(lower)
    await fs.write('/change', 'changed')
    await fs.remove('/gone', recursive)
    await fs.remove('/dir', recursive)
    await fs.write('/dir', 'a file')
    await fs.remove('/file')
    await fs.write('/file/in', 'a directory')
    await fs.symlink('keep', '/link')
    await fs.mkdir('/empty/dir', { parents: true })
    const merged = await snapshot(fs)
    await fs.commit()
    expect(await snapshot(lower)).toEqual(merged)
    expect(await snapshot(fs)).toEqual(merged)
    expect(await fs.diff()).toEqual({ added: [], modified: [], deleted: [] })
    await lower.write('/later', 'seen')
    expect(await readText(fs, '/later')).toBe('seen')
  })

  it('writes nothing to lower for content written back unchanged', async () => {
    const lower = await filled(new Faulty(), { '/d/f': 'x' })
    const fs = new OverlayFs(lower)
    await fs.write('/d/f', 'x')
    lower.arm(1)
    await fs.commit()
    expect(lower.mutations).toBe(0)
  })

  it('onto a read-only lower is EROFS and loses nothing', async () => {
    for (const change of [
      (fs: OverlayFs) => fs.write('/f', 'changed'),
      (fs: OverlayFs) => fs.write('/new', 'x'),
      (fs: OverlayFs) => fs.remove('/f'),
    ]) {
      const fs = new OverlayFs(new ReadOnlyFs(new MemoryFs({ '/f': 'x' })))
      await change(fs)
      const before = await snapshot(fs)
      await expect(fs.commit()).rejects.toMatchObject({ code: 'EROFS' })
      expect(await snapshot(fs)).toEqual(before)
    }
  })

  it('waits for running writes; later ones change the new state', async () => {
    const lower = new MemoryFs({ '/f': 'low' })
    const fs = new OverlayFs(lower)
    const slow = async function* () {
      for (let turn = 0; turn < 30; turn++) await Promise.resolve()
      yield 'before'
    }
    const before = fs.write('/f', slow())
    const committed = fs.commit()
    const after = [fs.write('/f', 'after'), fs.write('/g', 'new'), fs.append('/h', '1'), fs.append('/h', '2')]
    await Promise.all([before, committed])
    expect(await readText(lower, '/f')).toBe('before')
    await Promise.all(after)
    expect(await snapshot(fs)).toEqual({ '/f': 'file after', '/g': 'file new', '/h': 'file 12' })
    expect(await snapshot(lower)).toEqual({ '/f': 'file before' })
    expect(await fs.diff()).toEqual({ added: ['/g', '/h'], modified: ['/f'], deleted: [] })
  })

  it('loses none of many concurrent writes, commits and diffs', async () => {
    const lower = new MemoryFs()
    const fs = new OverlayFs(lower)
    const work = Array.from({ length: 60 }, (_, i) =>
      i % 10 === 9 ? fs.commit() : i % 10 === 5 ? fs.diff() : fs.append(`/f${i % 3}`, '.'),
    )
    await Promise.all(work)
    await fs.commit()
    const sizes = (await Array.fromAsync(lower.walk('/'))).map(({ stat }) => stat.size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(48)
  })

  it('applies a changed link to lower or fails, whatever else is mounted there', async () => {
    class Linkless extends MemoryFs {
      override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])
    }
    const root = new MemoryFs({ '/one': '1', '/two': '2' })
    await root.symlink('one', '/link')
    const fs = new OverlayFs(new MountTable({ '/': root, '/other': new Linkless() }))
    await fs.remove('/link')
    await fs.symlink('two', '/link')
    const committed = await fs.commit().then(
      () => true,
      () => false,
    )
    // If it cannot, the change is still in the overlay.
    expect(await (committed ? root : fs).readlink('/link')).toBe('two')
  })

  it('stops when its signal is aborted, and leaves lower unchanged', async () => {
    const lower = new MemoryFs({ '/f': 'x' })
    const fs = new OverlayFs(lower)
    await fs.write('/f', 'y')
    await expect(fs.commit({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    expect(await readText(lower, '/f')).toBe('x')
    await fs.commit()
    expect(await readText(lower, '/f')).toBe('y')
  })

  it('throws when lower cannot be rolled back, and keeps every change', async () => {
    const lower = await filled(new Faulty(), { '/a': '1', '/b': '2' })
    const fs = new OverlayFs(lower)
    await fs.write('/a', 'changed')
    await fs.remove('/b')
    const merged = await snapshot(fs)
    lower.staysBroken = true
    lower.arm(2)
    await expect(fs.commit()).rejects.toMatchObject({ code: 'EIO' })
    expect(await snapshot(fs)).toEqual(merged)
    lower.arm(Number.POSITIVE_INFINITY)
    await fs.commit()
    expect(await snapshot(lower)).toEqual(merged)
  })

  describe.each([
    ['can fork', () => new Faulty()],
    ['cannot fork', () => new FaultyUnforkable()],
  ])('onto a lower that %s and fails once', (_name, create) => {
    const files = {
      '/keep': '1',
      '/change': '2',
      '/gone/f': '3',
      '/gone/g': '4',
      '/dir/f': '5',
      '/file': '6',
      '/again/f': '7',
    }

    async function staged(): Promise<{ lower: Faulty; fs: OverlayFs }> {
      const lower = await filled(create(), files)
      await lower.symlink('keep', '/link')
      const fs = new OverlayFs(lower)
      await fs.write('/change', 'changed')
      await fs.remove('/gone', recursive)
      await fs.remove('/dir', recursive)
      await fs.write('/dir', 'a file')
      await fs.remove('/file')
      await fs.write('/file/in/deep', 'a directory')
      await fs.remove('/again', recursive)
      await fs.write('/again/g', 'made again')
      await fs.write('/new/one', '1')
      await fs.write('/new/two', '2')
      await fs.mkdir('/empty')
      await fs.remove('/link')
      await fs.symlink('change', '/link')
      return { lower, fs }
    }

    it('rolls lower back whichever step fails, keeps the changes, and succeeds the next time', async () => {
      const original = await snapshot((await staged()).lower)
      let steps = 0
      for (let failAt = 1; ; failAt++) {
        const { lower, fs } = await staged()
        const merged = await snapshot(fs)
        const changes = await fs.diff()
        lower.arm(failAt)
        const failure = await fs.commit().then(
          () => undefined,
          (error: unknown) => error,
        )
        if (failure === undefined) {
          steps = failAt - 1
          expect(await snapshot(lower)).toEqual(merged)
          break
        }
        expect(isVfsError(failure), `step ${failAt}: ${failure}`).toBe(true)
        expect(await snapshot(lower), `lower after step ${failAt}`).toEqual(original)
        expect(await snapshot(fs), `overlay after step ${failAt}`).toEqual(merged)
        expect(await fs.diff()).toEqual(changes)
        await fs.commit()
        expect(await snapshot(lower), `lower at last, step ${failAt}`).toEqual(merged)
      }
      expect(steps).toBeGreaterThan(10)
    })
  })
})

describe('discard', () => {
  it('shows lower again and allows new changes', async () => {
    const lower = new MemoryFs({ '/d/f': 'x', '/g': 'y' })
    const fs = new OverlayFs(lower)
    const before = await snapshot(lower)
    await fs.remove('/d', recursive)
    await fs.write('/d', 'a file')
    await fs.write('/new/f', 'z')
    await fs.discard()
    expect(await snapshot(fs)).toEqual(before)
    expect(await fs.diff()).toEqual({ added: [], modified: [], deleted: [] })
    await fs.write('/d/f', 'again')
    expect(await fs.diff()).toEqual({ added: [], modified: ['/d/f'], deleted: [] })
    expect(await snapshot(lower)).toEqual(before)
  })

  it('drops the writes issued before it, and none after', async () => {
    const fs = new OverlayFs(new MemoryFs())
    const all = [fs.write('/before', 'x'), fs.discard(), fs.write('/after', 'y')]
    await Promise.all(all)
    expect(await snapshot(fs)).toEqual({ '/after': 'file y' })
  })
})

describe('a fork', () => {
  it('starts with the same changes and whiteouts, then both sides change independently', async () => {
    const fs = new OverlayFs(new MemoryFs({ '/a/f': '1', '/b': '2', '/c': '3' }))
    await fs.remove('/a', recursive)
    await fs.write('/b', 'changed')
    const fork = fs.fork()
    const start = await snapshot(fs)
    expect(await snapshot(fork)).toEqual(start)
    await fork.remove('/c')
    await fork.write('/a/new', 'fork')
    await fs.write('/a', 'original')
    expect(await snapshot(fork)).toEqual({ '/a': 'directory', '/a/new': 'file fork', '/b': 'file changed' })
    expect(await snapshot(fs)).toEqual({ '/a': 'file original', '/b': 'file changed', '/c': 'file 3' })
    await fs.discard()
    expect((await fork.diff()).deleted).toEqual(['/a/f', '/c'])
  })

  it('is ENOTSUP if upper cannot fork', () => {
    const fs = new OverlayFs(new MemoryFs(), new FaultyUnforkable())
    expect(fs.capabilities.has('fork')).toBe(false)
    expect(() => fs.fork()).toThrow(expect.objectContaining({ code: 'ENOTSUP' }))
  })
})

describe('links', () => {
  it('in either layer lead into the other', async () => {
    const lower = new MemoryFs({ '/low/f': 'low' })
    await lower.symlink('../up', '/low/to-up')
    const upper = new MemoryFs({ '/up/g': 'up' })
    await upper.symlink('/low', '/up/to-low')
    const fs = new OverlayFs(lower, upper)
    expect(await readText(fs, '/low/to-up/g')).toBe('up')
    expect(await readText(fs, '/up/to-low/f')).toBe('low')
    expect(await readText(fs, '/up/to-low/to-up/to-low/f')).toBe('low')
    await fs.write('/up/to-low/new', 'through')
    expect(await readText(fs, '/low/new')).toBe('through')
    expect(await lower.exists('/low/new')).toBe(false)
  })

  it('of lower lead to paths as the overlay changed and removed them', async () => {
    const lower = new MemoryFs({ '/f': 'low', '/d/g': 'low' })
    await lower.symlink('f', '/to-f')
    await lower.symlink('d', '/to-d')
    const fs = new OverlayFs(lower)
    await fs.write('/to-f', 'changed')
    expect(await readText(fs, '/f')).toBe('changed')
    await fs.remove('/f')
    await expect(readText(fs, '/to-f')).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await fs.stat('/to-f')).type).toBe('symlink')
    await fs.remove('/d', recursive)
    expect(await fs.exists('/to-d/g')).toBe(false)
    await fs.write('/d/g', 'new')
    expect(await names(fs, '/to-d')).toEqual(['g'])
    expect(await readText(fs, '/to-d/g')).toBe('new')
    expect(await readText(lower, '/to-f')).toBe('low')
  })

  it('are replaced, moved and removed themselves', async () => {
    const lower = new MemoryFs({ '/f': 'x' })
    await lower.symlink('f', '/link')
    const fs = new OverlayFs(lower)
    await move(fs, '/link', '/moved')
    expect(await snapshot(fs)).toEqual({ '/f': 'file x', '/moved': '-> f' })
    await fs.remove('/moved')
    await fs.commit()
    expect(await snapshot(lower)).toEqual({ '/f': 'file x' })
  })

  it('make mkdir fail, even if they dangle', async () => {
    const fs = new OverlayFs(new MemoryFs())
    await fs.symlink('nowhere', '/dangling')
    await expect(fs.mkdir('/dangling')).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await fs.exists('/nowhere')).toBe(false)
  })

  it('that form a cycle across the layers are ELOOP', async () => {
    const [lower, upper] = [new MemoryFs(), new MemoryFs()]
    await lower.symlink('/up', '/low')
    await upper.symlink('/low', '/up')
    await expect(readText(new OverlayFs(lower, upper), '/low')).rejects.toMatchObject({
      code: 'ELOOP',
      path: '/low',
    })
  })
})

describe('walk', () => {
  it('skips an unreadable entry of lower and continues', async () => {
    class Guarded extends MemoryFs {
      protected override doStat(path: string): Stat {
        if (path === '/d/b') throw new VfsError('EACCES', path, { op: 'stat' })
        return super.doStat(path)
      }
    }
    const fs = new OverlayFs(new Guarded({ '/d/a': '', '/d/b': '', '/d/c': '', '/e': '' }))
    await fs.write('/d/new', '')
    const paths = (await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)
    expect(paths).toEqual(['/d/a', '/d/c', '/d/new', '/e'])
  })

  it('counts its depth the same in changed and unchanged parts, and from a link', async () => {
    const lower = new MemoryFs({ '/a/b/c/d': '', '/x/y/z': '' })
    await lower.symlink('a/b', '/link')
    const fs = new OverlayFs(lower)
    await fs.write('/a/b/new', '')
    const plain = new MemoryFs({ '/a/b/c/d': '', '/a/b/new': '', '/x/y/z': '' })
    await plain.symlink('a/b', '/link')
    for (const root of ['/', '/a', '/link', '/x']) {
      for (let maxDepth = 0; maxDepth < 5; maxDepth++) {
        const options = { includeDirs: true, maxDepth }
        const pathsOf = async (one: FileSystem) =>
          (await Array.fromAsync(one.walk(root, options))).map(({ path }) => path)
        expect(await pathsOf(fs), `${root} ${maxDepth}`).toEqual(await pathsOf(plain))
      }
    }
  })
})

describe('materialize', () => {
  it('prefetches both layers, with the prefix', async () => {
    const asked: string[] = []
    class Lazy extends MemoryFs {
      readonly label: string
      constructor(label: string) {
        super()
        this.label = label
      }
      protected override doMaterialize({ prefix }: MaterializeOptions): void {
        asked.push(`${this.label} ${prefix}`)
      }
    }
    await new OverlayFs(new Lazy('lower'), new Lazy('upper')).materialize({ prefix: '/d' })
    expect(asked).toEqual(['lower /d', 'upper /d'])
  })
})

describe('any sequence of operations', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
    .map((parts) => `/${parts.join('/')}`)
  const content = fc.constantFrom('', 'x', 'y')
  const basic = ['write', 'write', 'append', 'mkdir', 'remove', 'remove'] as const
  const operation = (...more: ('move' | 'symlink')[]) =>
    fc.record({ op: fc.constantFrom(...basic, ...more), path, other: path, content, flag: fc.boolean() })
  // Moves and links apart: a move into its own source through a link is a case of its own.
  const operations = fc.oneof(
    fc.array(operation('move', 'move'), { maxLength: 12 }),
    fc.array(operation('symlink'), { maxLength: 12 }),
  )
  const seeds = fc.array(fc.tuple(path, content, fc.boolean()), { maxLength: 8 })
  type Step = ReturnType<typeof operation> extends fc.Arbitrary<infer T> ? T : never

  async function perform(
    fs: OverlayFs | MemoryFs,
    { op, path, other, content, flag }: Step,
  ): Promise<string> {
    const calls = {
      write: () => fs.write(path, content, { parents: flag }),
      append: () => fs.append(path, content),
      mkdir: () => fs.mkdir(path, { parents: flag }),
      remove: () => fs.remove(path, { recursive: flag || content !== '' }),
      move: () => move(fs, path, other, { overwrite: flag }),
      symlink: () => fs.symlink(other, path),
    }
    try {
      await calls[op]()
      return 'done'
    } catch (error) {
      if (!isVfsError(error)) throw error
      // Where several rules forbid a move, either may be named.
      return op === 'move' ? 'refused' : error.code
    }
  }

  async function seeded(entries: readonly (readonly [string, string, boolean])[]): Promise<MemoryFs> {
    const fs = new MemoryFs()
    for (const [path, content, isFile] of entries) {
      const made = isFile ? fs.write(path, content) : fs.mkdir(path, { parents: true })
      await made.catch(() => {})
    }
    return fs
  }

  /** What differs between two snapshots, by the rule for directories. */
  function bruteForce(before: Snapshot, after: Snapshot) {
    const isEmpty = (all: Snapshot, path: string) =>
      !Object.keys(all).some((one) => one.startsWith(`${path}/`))
    const kindOf = (entry: string | undefined) => entry?.split(' ')[0]
    const onlyIn = (one: Snapshot, other: Snapshot) =>
      Object.keys(one)
        .filter((path) => kindOf(one[path]) !== kindOf(other[path]))
        .filter((path) => one[path] !== 'directory' || isEmpty(one, path))
        .sort()
    const modified = Object.keys(after)
      .filter((path) => kindOf(before[path]) === kindOf(after[path]) && before[path] !== after[path])
      .sort()
    return { added: onlyIn(after, before), modified, deleted: onlyIn(before, after) }
  }

  const runs = { numRuns: 300 }

  it('gives the same results and the same tree as on a plain copy', async () => {
    const property = fc.asyncProperty(seeds, operations, async (entries, steps) => {
      const plain = await seeded(entries)
      const overlay = new OverlayFs(await seeded(entries))
      for (const step of steps) expect(await perform(overlay, step)).toBe(await perform(plain, step))
      expect(await snapshot(overlay)).toEqual(await snapshot(plain))
    })
    await fc.assert(property, runs)
  })

  it('yields the same diff as a full comparison', async () => {
    const property = fc.asyncProperty(seeds, operations, async (entries, steps) => {
      const lower = await seeded(entries)
      const overlay = new OverlayFs(lower)
      for (const step of steps) await perform(overlay, step)
      expect(await overlay.diff()).toEqual(bruteForce(await snapshot(lower), await snapshot(overlay)))
    })
    await fc.assert(property, runs)
  })

  it('commits exactly the merged view, and leaves the view unchanged', async () => {
    const property = fc.asyncProperty(seeds, seeds, operations, async (low, up, steps) => {
      const lower = await seeded(low)
      const overlay = new OverlayFs(lower, await seeded(up))
      for (const step of steps) await perform(overlay, step)
      const merged = await snapshot(overlay)
      await overlay.commit()
      expect(await snapshot(lower)).toEqual(merged)
      expect(await snapshot(overlay)).toEqual(merged)
      expect(await overlay.diff()).toEqual({ added: [], modified: [], deleted: [] })
    })
    await fc.assert(property, runs)
  })

  it('changes nothing in lower before the commit, and nothing at all once discarded', async () => {
    const property = fc.asyncProperty(seeds, operations, async (entries, steps) => {
      const lower = await seeded(entries)
      const before = await snapshot(lower)
      const overlay = new OverlayFs(new MountTable({ '/': lower }))
      for (const step of steps) await perform(overlay, step)
      expect(await snapshot(lower)).toEqual(before)
      await overlay.discard()
      expect(await snapshot(overlay)).toEqual(before)
    })
    await fc.assert(property, runs)
  })
})
