import { describe, expect, it } from 'vitest'
import { isVfsError, VfsError } from '../error.ts'
import type {
  CallContext,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  MkdirOptions,
  RemoveOptions,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from '../file-system.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { OverlayFs } from '../overlay/overlay-fs.ts'
import { dirname } from '../path.ts'
import { isLinkable } from '../protocols.ts'
import { ReadOnlyFs } from '../read-only-fs.ts'
import { copy, move } from './copy-move.ts'
import { readText } from './file-content.ts'

async function snapshot(fs: FileSystem, root = '/'): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, stat } of fs.walk(root, { includeDirs: true })) {
    if (stat.type === 'directory') found[path] = 'directory'
    else if (stat.type === 'symlink' && isLinkable(fs)) found[path] = `-> ${await fs.readlink(path)}`
    else found[path] = await readText(fs, path)
  }
  return found
}

/** Refuses what a host refuses to an ordinary user: an entry in a directory that its owner may not write. */
class Strict extends MemoryFs {
  override async write(path: string, content: Content, options?: WriteOptions): Promise<void> {
    await this.#assertWritable(path)
    await super.write(path, content, options)
  }

  override async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    await this.#assertWritable(path)
    await super.mkdir(path, options)
  }

  async #assertWritable(path: string): Promise<void> {
    const mode = (await this.stat(dirname(path))).mode ?? 0
    if ((mode & 0o300) !== 0o300) throw new VfsError('EACCES', path)
  }
}

/** A memory that refuses to write or remove some paths. */
class Stubborn extends MemoryFs {
  refused: ReadonlySet<string> | undefined

  protected override doWrite(path: string, content: Content, options: WriteOptions): void | Promise<void> {
    if (this.refused?.has(path)) throw new VfsError('EACCES', path, { op: 'write' })
    return super.doWrite(path, content, options)
  }
  protected override doRemove(path: string, options: RemoveOptions): void {
    if (this.refused?.has(path)) throw new VfsError('EACCES', path, { op: 'remove' })
    super.doRemove(path, options)
  }
}

/** A memory without `rename`, so that a move has to copy. */
class Unrenamable extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir', 'link'])
}

class Linkless extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])
}

/** Stops a copy that has lost its way, before it fills the memory. */
class Patient extends OverlayFs {
  left = 20
  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    if (this.left-- === 0) throw new Error(`the copy runs away: ${path}`)
    return super.doMkdir(path, options, ctx)
  }
}

const seed = { '/d/a': '1', '/d/sub/b': '2', '/f': '3' }

describe('copy', () => {
  it('copies a tree with modes, links as links, and empty directories', async () => {
    const fs = new MemoryFs(seed)
    await fs.write('/d/run', '#!', { mode: 0o755 })
    await fs.mkdir('/d/empty', { mode: 0o700 })
    await fs.symlink('a', '/d/link')
    await fs.symlink('nowhere', '/d/dangling')
    await copy(fs, '/d', '/to/here')
    const copied = await snapshot(fs, '/to/here')
    expect(Object.entries(copied).map(([path, what]) => `${path.slice(8)} ${what}`)).toEqual([
      '/a 1',
      '/dangling -> nowhere',
      '/empty directory',
      '/link -> a',
      '/run #!',
      '/sub directory',
      '/sub/b 2',
    ])
    expect([(await fs.stat('/to/here/run')).mode, (await fs.stat('/to/here/empty')).mode]).toEqual([
      0o755, 0o700,
    ])
  })

  it('copies into another file system, also from root to root', async () => {
    const [from, into] = [new MemoryFs(seed), new MemoryFs()]
    await copy(from, '/d', '/new/d', { into })
    await copy(from, '/d', '/d', { into })
    await copy(from, '/', '/', { into, overwrite: true })
    expect(await snapshot(into)).toEqual({
      ...(await snapshot(from)),
      '/new': 'directory',
      '/new/d': 'directory',
      '/new/d/a': '1',
      '/new/d/sub': 'directory',
      '/new/d/sub/b': '2',
    })
  })

  it('fills directories without permission to write, and sets their permissions afterwards', async () => {
    const source = new MemoryFs({ '/a/b/f': 'x' })
    await source.setattr('/a/b', { mode: 0o555 })
    await source.setattr('/a', { mode: 0o500 })
    const target = new Strict()
    await copy(source, '/a', '/copied', { into: target })
    expect(await readText(target, '/copied/b/f')).toBe('x')
    expect((await target.stat('/copied')).mode).toBe(0o500)
    expect((await target.stat('/copied/b')).mode).toBe(0o555)
    await target.mkdir('/there', { mode: 0o750 })
    await copy(source, '/a/b', '/there', { into: target, overwrite: true })
    expect((await target.stat('/there')).mode).toBe(0o750)
  })

  it('that fails in an existing directory leaves new ones with the permissions of the source', async () => {
    const source = new MemoryFs({ '/a/b/f': 'x', '/a/b/g': 'y' })
    await source.setattr('/a/b', { mode: 0o055 })
    await source.setattr('/a', { mode: 0o500 })
    const target = new Stubborn({ '/there/other': '' })
    target.refused = new Set(['/there/a/b/f'])
    const copied = copy(source, '/', '/there', { into: target, overwrite: true })
    await expect(copied).rejects.toMatchObject({ code: 'EACCES', path: '/there/a/b/f' })
    expect((await target.stat('/there/a/b')).mode).toBe(0o055)
    expect((await target.stat('/there/a')).mode).toBe(0o500)
  })

  it('with overwrite replaces files and merges directories', async () => {
    const fs = new MemoryFs({ ...seed, '/to/a': 'old', '/to/other': 'kept' })
    await copy(fs, '/d', '/to', { overwrite: true })
    expect(await snapshot(fs, '/to')).toEqual({
      '/to/a': '1',
      '/to/other': 'kept',
      '/to/sub': 'directory',
      '/to/sub/b': '2',
    })
    await copy(fs, '/f', '/to/a', { overwrite: true })
    expect(await readText(fs, '/to/a')).toBe('3')
    expect(await readText(fs, '/d/a')).toBe('1')
  })

  it('of a link over a file replaces the file, not what the link leads to', async () => {
    const fs = new MemoryFs(seed)
    await fs.symlink('f', '/link')
    await copy(fs, '/link', '/d/a', { overwrite: true })
    expect(await fs.readlink('/d/a')).toBe('f')
    expect(await readText(fs, '/f')).toBe('3')
  })

  it('onto itself or into its own descendant is EINVAL and damages nothing', async () => {
    const fs = new MemoryFs(seed)
    for (const target of ['/d', '/d/', '/d/sub/deep', '/d/../d/x']) {
      await expect(copy(fs, '/d', target, { overwrite: true }), target).rejects.toMatchObject({
        code: 'EINVAL',
      })
    }
    await copy(fs, '/d', '/dx')
    expect(await readText(fs, '/dx/a')).toBe('1')
  })

  it('that fails leaves no part of a new target behind', async () => {
    const fs = new Stubborn(seed)
    fs.refused = new Set(['/to/sub/b'])
    await expect(copy(fs, '/d', '/to')).rejects.toMatchObject({ code: 'EACCES', path: '/to/sub/b' })
    expect(await fs.exists('/to')).toBe(false)
    expect(await snapshot(fs, '/d')).toEqual({ '/d/a': '1', '/d/sub': 'directory', '/d/sub/b': '2' })
  })

  it('that fails does not remove a target that was there before', async () => {
    const fs = new Stubborn({ ...seed, '/to/kept': 'x' })
    fs.refused = new Set(['/to/sub/b'])
    await expect(copy(fs, '/d', '/to', { overwrite: true })).rejects.toMatchObject({ code: 'EACCES' })
    expect(await readText(fs, '/to/kept')).toBe('x')
  })

  it('that is aborted leaves no part of a new target behind', async () => {
    const fs = new MemoryFs(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/d/f${i}`, 'x'])))
    const controller = new AbortController()
    class Aborting extends MemoryFs {
      protected override doWrite(
        path: string,
        content: Content,
        options: WriteOptions,
      ): void | Promise<void> {
        if (path.endsWith('/f5')) controller.abort(new Error('enough'))
        return super.doWrite(path, content, options)
      }
    }
    const into = new Aborting()
    await expect(copy(fs, '/d', '/d', { into }, { signal: controller.signal })).rejects.toThrow('enough')
    expect(await snapshot(into)).toEqual({})
  })

  it('of a link reports why the entry in its place cannot be removed', async () => {
    const fs = new Stubborn(seed)
    await fs.symlink('f', '/link')
    await fs.symlink('d', '/old')
    fs.refused = new Set(['/old'])
    await expect(copy(fs, '/link', '/old', { overwrite: true })).rejects.toMatchObject({
      code: 'EACCES',
      path: '/old',
    })
    expect(await fs.readlink('/old')).toBe('d')
  })

  it('of a link into a file system without links is ENOTSUP, and leaves nothing behind', async () => {
    const fs = new MemoryFs({ '/d/a': '1' })
    await fs.symlink('a', '/d/link')
    const into = new Linkless()
    await expect(copy(fs, '/d', '/d', { into })).rejects.toMatchObject({ code: 'ENOTSUP', path: '/d/link' })
    expect(await snapshot(into)).toEqual({})
  })

  it('onto an existing path is EEXIST before anything changes', async () => {
    const fs = new MemoryFs(seed)
    const before = await snapshot(fs)
    for (const [from, to] of [
      ['/f', '/d'],
      ['/d', '/f'],
      ['/f', '/d/a'],
    ] as const) {
      await expect(copy(fs, from, to)).rejects.toMatchObject({ code: 'EEXIST', path: to })
    }
    await expect(copy(fs, '/f', '/d', { overwrite: true })).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(copy(fs, '/d', '/f', { overwrite: true })).rejects.toMatchObject({ name: 'VfsError' })
    expect(await snapshot(fs)).toEqual(before)
  })
})

const movable: Readonly<Record<string, () => { fs: FileSystem; from: string; to: string; across: boolean }>> =
  {
    'natively renamed': () => ({ fs: new MemoryFs(seed), from: '', to: '', across: false }),
    'copied and removed': () => ({ fs: new Unrenamable(seed), from: '', to: '', across: false }),
    'in an overlay': () => ({ fs: new OverlayFs(new MemoryFs(seed)), from: '', to: '', across: false }),
    'across mounts': () => ({
      fs: new MountTable({ '/one': new MemoryFs(seed), '/two': new MemoryFs() }),
      from: '/one',
      to: '/two',
      across: true,
    }),
  }

describe.each(Object.entries(movable))('a move that is %s', (_name, create) => {
  it('moves a file and a tree, creating parents', async () => {
    const { fs, from, to, across } = create()
    await move(fs, `${from}/f`, `${to}/x/y/f`, { across })
    await move(fs, `${from}/d`, `${to}/x/d`, { across })
    expect(await snapshot(fs, `${to}/x`)).toEqual({
      [`${to}/x/d`]: 'directory',
      [`${to}/x/d/a`]: '1',
      [`${to}/x/d/sub`]: 'directory',
      [`${to}/x/d/sub/b`]: '2',
      [`${to}/x/y`]: 'directory',
      [`${to}/x/y/f`]: '3',
    })
    expect(await fs.exists(`${from}/d`)).toBe(false)
    expect(await fs.exists(`${from}/f`)).toBe(false)
  })

  it('is EEXIST onto an existing path; with overwrite it follows the rules of rename', async () => {
    const { fs, from, to, across } = create()
    await fs.write(`${to}/old`, 'old')
    await fs.write(`${to}/full/x`, '')
    await fs.mkdir(`${to}/bare`)
    const before = await snapshot(fs)
    const refusals = [
      ['/f', '/old', false, 'EEXIST'],
      ['/f', '/bare', false, 'EEXIST'],
      ['/f', '/full', false, 'EEXIST'],
      ['/d', '/old', false, 'EEXIST'],
      ['/d', '/bare', false, 'EEXIST'],
      ['/d', '/full', false, 'EEXIST'],
      ['/f', '/bare', true, 'EISDIR'],
      ['/d', '/old', true, 'ENOTDIR'],
      ['/d', '/full', true, 'ENOTEMPTY'],
    ] as const
    for (const [source, target, overwrite, code] of refusals) {
      const moved = move(fs, from + source, to + target, { overwrite, across })
      await expect(moved, `${source} onto ${target}, overwrite ${overwrite}`).rejects.toMatchObject({ code })
    }
    expect(await snapshot(fs)).toEqual(before)
    await move(fs, `${from}/f`, `${to}/old`, { overwrite: true, across })
    await move(fs, `${from}/d`, `${to}/bare`, { overwrite: true, across })
    expect(await readText(fs, `${to}/old`)).toBe('3')
    expect(await readText(fs, `${to}/bare/sub/b`)).toBe('2')
  })

  it('of a missing source is ENOENT and leaves the target alone', async () => {
    const { fs, from, to, across } = create()
    await fs.write(`${to}/old`, 'old')
    const moved = move(fs, `${from}/missing`, `${to}/old`, { overwrite: true, across })
    await expect(moved).rejects.toMatchObject({ code: 'ENOENT', path: `${from}/missing` })
    expect(await readText(fs, `${to}/old`)).toBe('old')
  })

  it('into its own descendant is EINVAL and damages nothing', async () => {
    const { fs, from, across } = create()
    const before = await snapshot(fs)
    await expect(move(fs, `${from}/d`, `${from}/d/sub/d`, { across })).rejects.toMatchObject({
      code: 'EINVAL',
    })
    await move(fs, `${from}/d`, `${from}/d/`, { across })
    expect(await snapshot(fs)).toEqual(before)
  })
})

describe('a tree that cannot be read as a whole', () => {
  /** A directory may be seen but not listed; as everywhere, a walk skips it. */
  class Secretive extends MemoryFs {
    protected override doReaddir(path: string): AsyncIterable<DirEntry> {
      if (path === '/d/secret') throw new VfsError('EACCES', path, { op: 'readdir' })
      return super.doReaddir(path)
    }
    protected override async *doWalk(root: string, options: WalkOptions): AsyncGenerator<WalkEntry> {
      for await (const entry of super.doWalk(root, options)) {
        if (!entry.path.startsWith('/d/secret/')) yield entry
      }
    }
  }
  const create = () => {
    const source = new Secretive({ '/d/a': '1', '/d/secret/only-copy': '2' })
    return { source, fs: new MountTable({ '/one': source, '/two': new MemoryFs() }) }
  }

  it('makes the copy fail instead of copying a part', async () => {
    const { fs } = create()
    await expect(copy(fs, '/one/d', '/two/d')).rejects.toMatchObject({
      code: 'EACCES',
      path: '/one/d/secret',
    })
    expect(await fs.exists('/two/d')).toBe(false)
  })

  it('is not removed after an incomplete move', async () => {
    const { fs, source } = create()
    await move(fs, '/one/d', '/two/d', { across: true }).catch(() => {})
    expect(await readText(source, '/d/secret/only-copy')).toBe('2')
  })
})

describe('a link that leads back into the source', () => {
  it('is moved itself to its target, as a rename does', async () => {
    for (const fs of [new MemoryFs({ '/d/f': 'x' }), new OverlayFs(new MemoryFs({ '/d/f': 'x' }))]) {
      await fs.symlink('/d', '/l')
      await move(fs, '/l', '/l/inside')
      expect([await fs.exists('/l'), await fs.readlink('/d/inside')]).toEqual([false, '/d'])
      expect(await readText(fs, '/d/f')).toBe('x')
    }
  })

  it.each([
    ['natively', () => new MemoryFs({ '/a/f': '1' })],
    ['in an overlay', () => new Patient(new MemoryFs({ '/a/f': '1' }))],
  ])('is found out by copy and move %s: EINVAL, and nothing is damaged', async (_name, create) => {
    const fs = create()
    await fs.symlink('/a', '/b')
    const before = await snapshot(fs)
    await expect(copy(fs, '/a', '/b/c')).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(move(fs, '/a', '/b/c')).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await snapshot(fs)).toEqual(before)
  })
})

describe('links in a mount', () => {
  it('are resolved inside their mount, not in the table', async () => {
    const inner = new MemoryFs({ '/a/g': '2' })
    await inner.symlink('/a', '/link')
    const fs = new MountTable({ '/': new MemoryFs({ '/a/f': '1' }), '/m': inner })
    await copy(fs, '/a', '/m/link/x')
    expect(await readText(fs, '/m/a/x/f')).toBe('1')
  })

  it.each([
    ['alone', {}],
    ['beside a mount without links', { '/flat': new Linkless() }],
  ])('that lead back into the source do not make a copy run away, %s', async (_name, others) => {
    const inner = new Patient(new MemoryFs({ '/a/f': '1' }))
    await inner.symlink('/a', '/link')
    const outcome = await copy(new MountTable({ ...others, '/m': inner }), '/m/a', '/m/link/c').then(
      () => 'done',
      (error: unknown) => (isVfsError(error) ? error.code : String(error)),
    )
    expect(['done', 'EINVAL']).toContain(outcome)
  })
})

describe('a move across mounts', () => {
  it('keeps the source when the copy fails, and leaves no part of the target', async () => {
    const target = new Stubborn()
    target.refused = new Set(['/d/sub/b'])
    const fs = new MountTable({ '/one': new MemoryFs(seed), '/two': target })
    await expect(move(fs, '/one/d', '/two/d', { across: true })).rejects.toMatchObject({
      path: '/two/d/sub/b',
    })
    expect(await snapshot(fs, '/one/d')).toEqual({
      '/one/d/a': '1',
      '/one/d/sub': 'directory',
      '/one/d/sub/b': '2',
    })
    expect(await snapshot(target)).toEqual({})
  })

  it('from a read-only mount fails and keeps the source', async () => {
    const fs = new MountTable({ '/ro': new ReadOnlyFs(new MemoryFs(seed)), '/rw': new MemoryFs() })
    await expect(move(fs, '/ro/f', '/rw/f', { across: true })).rejects.toMatchObject({
      code: 'EROFS',
      path: '/ro/f',
    })
    expect(await readText(fs, '/ro/f')).toBe('3')
  })

  it('moves links too', async () => {
    const from = new MemoryFs(seed)
    await from.symlink('a', '/d/link')
    const fs = new MountTable({ '/one': from, '/two': new MemoryFs() })
    await move(fs, '/one/d', '/two/d', { across: true })
    expect(await fs.readlink('/two/d/link')).toBe('a')
  })
})
