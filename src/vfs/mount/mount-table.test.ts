import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Backend } from '../backend.ts'
import { VfsError } from '../error.ts'
import type { Capability, DirEntry, FileSystem, MaterializeOptions, Stat } from '../file-system.ts'
import { copy, move } from '../helpers/copy-move.ts'
import { readText } from '../helpers/file-content.ts'
import { grep } from '../helpers/grep.ts'
import { list } from '../helpers/listing.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { OverlayFs } from '../overlay/overlay-fs.ts'
import { dirname, isWithin } from '../path.ts'
import { ReadOnlyFs } from '../read-only-fs.ts'
import { ReadyStream } from '../ready-stream.ts'
import { MountTable } from './mount-table.ts'

async function names(fs: FileSystem, path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name }) => name)
}

async function walked(
  fs: FileSystem,
  root = '/',
  options: { maxDepth?: number; includeDirs?: boolean } = {},
) {
  return (await Array.fromAsync(fs.walk(root, options))).map(({ path }) => path)
}

function directory(): Stat {
  return { type: 'directory', size: 0, mtime: new Date(0), mode: null }
}

/** A file system whose listings fail at a step that is not in memory. */
class Unreadable extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read'])

  protected doStat(): Stat {
    return directory()
  }

  protected doReaddir(path: string): ReadyStream<DirEntry> {
    return new ReadyStream(() => Promise.reject(new VfsError('EIO', path, { op: 'readdir' })))
  }

  protected doRead(path: string): AsyncIterable<Uint8Array> {
    throw new VfsError('EISDIR', path, { op: 'read' })
  }
}

/** A directory that never ends, and each of its entries is such a directory again. */
class Endless extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'lazy'])
  listed = 0

  protected doStat(): Stat {
    return directory()
  }

  protected async *doReaddir(): AsyncGenerator<DirEntry> {
    for (;;) yield { name: `n${String(this.listed++).padStart(9, '0')}`, type: 'directory' }
  }

  protected doRead(path: string): never {
    throw new VfsError('EISDIR', path, { op: 'read' })
  }
}

/** A memory that denies everything at and below some paths. */
class Guarded extends MemoryFs {
  readonly denied: string[] = []
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])

  #check(path: string, op: string): void {
    if (this.denied.some((root) => isWithin(path, root))) throw new VfsError('EACCES', path, { op })
  }
  protected override doStat(path: string): Stat {
    this.#check(path, 'stat')
    return super.doStat(path)
  }
  protected override doReaddir(path: string): AsyncIterable<DirEntry> {
    this.#check(path, 'readdir')
    return super.doReaddir(path)
  }
  protected override doRead(path: string, options: object): AsyncIterable<Uint8Array> {
    this.#check(path, 'read')
    return super.doRead(path, options)
  }
}

/** A memory that records calls of materialize, and fails on request. */
class Lazy extends MemoryFs {
  readonly prefixes: (string | undefined)[] = []
  broken = false

  protected override doMaterialize({ prefix }: MaterializeOptions): void {
    this.prefixes.push(prefix)
    if (this.broken) throw new VfsError('EIO', prefix ?? '/', { op: 'materialize' })
  }
}

/** A memory with fewer capabilities than it has. */
class Limited extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability>

  constructor(capabilities: readonly Capability[], seed: Record<string, string> = {}) {
    super(seed)
    this.capabilities = new Set(capabilities)
  }
}

describe('routing', () => {
  it('goes to the longest mount point on whole segments', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/f': 'root', '/dev/fs2/f': 'root below' }),
      '/dev': new MemoryFs({ '/f': 'dev' }),
      '/dev/fs': new MemoryFs({ '/f': 'fs' }),
      '/dev/fs/a/b/c': new MemoryFs({ '/f': 'deep' }),
    })
    const at = (path: string) => readText(table, path)
    expect([await at('/f'), await at('/dev/f'), await at('/dev/fs/f')]).toEqual(['root', 'dev', 'fs'])
    expect(await at('/dev/fs/a/b/c/f')).toBe('deep')
    await expect(at('/dev/fs2/f')).rejects.toMatchObject({ code: 'ENOENT', mount: '/dev' })
    await table.write('/dev/fsx', 'beside')
    expect(await names(table, '/dev')).toEqual(['f', 'fs', 'fsx'])
  })

  it('treats a mount point as the root of its mount, with or without a slash', async () => {
    const table = new MountTable({ '/m': new MemoryFs({ '/f': 'x' }) })
    for (const path of ['/m', '/m/', '/m/.', '/m/f/..']) {
      expect(await names(table, path)).toEqual(['f'])
      expect((await table.stat(path)).type).toBe('directory')
    }
  })

  it('throws ENOENT where nothing is mounted', async () => {
    const table = new MountTable({ '/m': new MemoryFs() })
    const calls = [
      () => table.stat('/x'),
      () => Array.fromAsync(table.readdir('/x')),
      () => readText(table, '/x'),
      () => table.write('/x', ''),
      () => table.mkdir('/x'),
      () => table.remove('/x'),
      () => table.rename('/x', '/m/x'),
      () => table.append('/x', ''),
      () => table.hash('/x'),
      () => Array.fromAsync(table.search('/x', { pattern: 'x' })),
    ]
    for (const call of calls) {
      await expect(call(), call.toString()).rejects.toMatchObject({ code: 'ENOENT', path: '/x' })
    }
    expect(await table.exists('/x')).toBe(false)
    expect(await walked(table, '/x')).toEqual([])
  })

  it('finds the right one of a hundred mounts', async () => {
    const table = new MountTable()
    for (let i = 0; i < 100; i++) table.mount(`/m${i}/x`, new MemoryFs({ '/f': `${i}` }))
    expect(await readText(table, '/m1/x/f')).toBe('1')
    expect(await readText(table, '/m99/x/f')).toBe('99')
    expect((await walked(table)).length).toBe(100)
  })

  it('shows the root of an empty table', async () => {
    const table = new MountTable()
    expect(await table.stat('/')).toMatchObject({ type: 'directory', size: 0 })
    expect(await table.exists('/')).toBe(true)
    expect(await names(table, '/')).toEqual([])
    expect(await walked(table, '/', { includeDirs: true })).toEqual([])
  })
})

describe('synthetic directories', () => {
  it('lead to a mount point: directories of size 0, of the epoch', async () => {
    const table = new MountTable({ '/a/b/c': new MemoryFs() })
    for (const path of ['/', '/a', '/a/b']) {
      expect(await table.stat(path)).toMatchObject({ type: 'directory', size: 0, mtime: new Date(0) })
      expect(await table.exists(path)).toBe(true)
    }
    expect([await names(table, '/'), await names(table, '/a'), await names(table, '/a/b')]).toEqual([
      ['a'],
      ['b'],
      ['c'],
    ])
  })

  it('vanish with the mount', async () => {
    const table = new MountTable({ '/': new MemoryFs(), '/a/b': new MemoryFs() })
    table.unmount('/a/b')
    expect(await table.exists('/a')).toBe(false)
  })

  it('have the stat of a real directory if there is one', async () => {
    const root = new MemoryFs({}, { now: () => 5000 })
    await root.mkdir('/a', { mode: 0o700 })
    const table = new MountTable({ '/': root, '/a/b': new MemoryFs() })
    expect(await table.stat('/a')).toMatchObject({ mtime: new Date(5000), mode: 0o700 })
    expect((await table.stat('/a/b')).type).toBe('directory')
  })

  it('replace only a missing directory: a denied one stays denied', async () => {
    const root = new Guarded({ '/a/real': 'x' })
    const table = new MountTable({ '/': root, '/a/b': new MemoryFs({ '/f': 'x' }) })
    root.denied.push('/a')
    await expect(table.stat('/a')).rejects.toMatchObject({ code: 'EACCES', path: '/a', mount: '/' })
    await expect(names(table, '/a')).rejects.toMatchObject({ code: 'EACCES', path: '/a', mount: '/' })
    expect(await readText(table, '/a/b/f')).toBe('x')
  })

  it('list mount points and real entries together: sorted, each once, as a directory', async () => {
    const root = new MemoryFs({ '/d/a': '', '/d/m/hidden': '', '/d/n': 'a file in the way', '/d/z': '' })
    const table = new MountTable({
      '/': root,
      '/d/m': new MemoryFs(),
      '/d/n': new MemoryFs(),
      '/d/0/x': new MemoryFs(),
    })
    expect(await Array.fromAsync(table.readdir('/d'))).toEqual([
      { name: '0', type: 'directory' },
      { name: 'a', type: 'file' },
      { name: 'm', type: 'directory' },
      { name: 'n', type: 'directory' },
      { name: 'z', type: 'file' },
    ])
    expect(await names(table, '/d/m')).toEqual([])
  })

  it('stay lazy over an infinite directory', async () => {
    const endless = new Endless()
    const table = new MountTable({ '/': endless, '/a/b': new MemoryFs(), '/n000000001x': new MemoryFs() })
    const seen: string[] = []
    for await (const { name } of table.readdir('/')) if (seen.push(name) === 5) break
    expect(seen).toEqual(['a', 'n000000000', 'n000000001', 'n000000001x', 'n000000002'])
    expect(endless.listed).toBeLessThan(10)
  })

  it('cannot be written as files', async () => {
    for (const root of [{}, { '/': new MemoryFs() }]) {
      const table = new MountTable({ ...root, '/a/b': new MemoryFs({ '/f': 'x' }) })
      for (const path of ['/a', '/a/b']) {
        await expect(table.write(path, 'x')).rejects.toMatchObject({ code: 'EISDIR', path })
        await expect(table.append(path, 'x')).rejects.toMatchObject({ code: 'EISDIR', path })
        await expect(readText(table, path)).rejects.toMatchObject({ code: 'EISDIR', path })
        await expect(table.hash(path)).rejects.toMatchObject({ code: 'EISDIR', path })
        await expect(table.mkdir(path)).rejects.toMatchObject({ code: 'EEXIST', path })
        await expect(table.symlink('x', path)).rejects.toMatchObject({ code: 'EEXIST', path })
        await table.mkdir(path, { parents: true })
      }
      expect(await readText(table, '/a/b/f')).toBe('x')
    }
  })

  it('accept new entries without being created first, parents: false or not', async () => {
    const root = new MemoryFs()
    const table = new MountTable({ '/': root, '/a/b/c': new MemoryFs() })
    await table.write('/a/f', 'x', { parents: false })
    await table.mkdir('/a/b/made')
    await table.write('/a/b/f', 'y', { parents: false })
    expect(await walked(root, '/', { includeDirs: true })).toEqual([
      '/a',
      '/a/b',
      '/a/b/f',
      '/a/b/made',
      '/a/f',
    ])
    await expect(table.write('/a/missing/f', 'x', { parents: false })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    await expect(table.mkdir('/a/missing/d')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await root.exists('/a/missing')).toBe(false)
  })

  it('hide a file at their path: a walk yields nothing unreadable', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/a': 'in the way' }),
      '/a/b': new MemoryFs({ '/f': 'x' }),
    })
    for await (const { name, type } of table.readdir('/'))
      expect((await table.stat(`/${name}`)).type).toBe(type)
    const paths = await walked(table)
    for (const path of paths) await expect(readText(table, path)).resolves.toBeTypeOf('string')
    expect(paths).toContain('/a/b/f')
  })

  it('hide a link at their path', async () => {
    const root = new MemoryFs({ '/real/b/f': 'behind the link' })
    await root.symlink('real', '/a')
    const table = new MountTable({ '/': root, '/a/b': new MemoryFs({ '/f': 'x' }) })
    expect(await walked(table)).toContain('/a/b/f')
    expect((await Array.fromAsync(table.readdir('/')))[0]?.type).toBe((await table.stat('/a')).type)
  })
})

describe('a mount point', () => {
  it('cannot be removed or renamed, and neither can a directory above it', async () => {
    const inner = new MemoryFs({ '/f': 'x' })
    for (const root of [{}, { '/': new MemoryFs({ '/a/real': 'y', '/free': 'z' }) }]) {
      const table = new MountTable({ ...root, '/a/b': inner })
      for (const path of ['/a', '/a/b', '/']) {
        await expect(table.remove(path, { recursive: true }), path).rejects.toMatchObject({ code: 'EINVAL' })
        await expect(table.remove(path), path).rejects.toMatchObject({ code: 'EINVAL' })
        await expect(table.rename(path, '/elsewhere'), path).rejects.toMatchObject({ code: 'EINVAL' })
      }
      expect(await readText(table, '/a/b/f')).toBe('x')
    }
  })

  it('cannot be overwritten by a rename or a move', async () => {
    const table = new MountTable({ '/': new MemoryFs({ '/d/f': 'x' }), '/a/b': new MemoryFs({ '/g': 'y' }) })
    for (const target of ['/a', '/a/b']) {
      await expect(table.rename('/d', target, { overwrite: true })).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(move(table, '/d', target, { overwrite: true, across: true })).rejects.toMatchObject({
        name: 'VfsError',
      })
    }
    expect(await walked(table)).toEqual(['/a/b/g', '/d/f'])
  })

  it('rejects a second mount with EEXIST unless replace is set', async () => {
    const [first, second] = [new MemoryFs({ '/f': '1' }), new MemoryFs({ '/f': '2' })]
    const table = new MountTable({ '/m': first })
    expect(() => table.mount('/m', second)).toThrow(expect.objectContaining({ code: 'EEXIST', path: '/m' }))
    expect(() => table.mount('/x/../m/', second)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
    expect(await readText(table, '/m/f')).toBe('1')
    table.mount('/m', second, { replace: true })
    expect(await readText(table, '/m/f')).toBe('2')
    expect(table.mounts().length).toBe(1)
  })

  it('is listed, the longest first', () => {
    const [a, b, c] = [new MemoryFs(), new MemoryFs(), new MemoryFs()]
    const table = new MountTable({ '/': a, '/x': b, '/x/y/z': c })
    expect(table.mounts()).toEqual([
      { path: '/x/y/z', fs: c },
      { path: '/x', fs: b },
      { path: '/', fs: a },
    ])
  })

  it('is unmounted once; ENOENT where nothing is mounted', () => {
    const table = new MountTable({ '/a/b': new MemoryFs() })
    expect(() => table.unmount('/a')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
    table.unmount('/a/./b/')
    expect(table.mounts()).toEqual([])
    expect(() => table.unmount('/a/b')).toThrow(expect.objectContaining({ code: 'ENOENT', path: '/a/b' }))
  })

  it('must be a storable, absolute path', () => {
    const table = new MountTable()
    for (const path of ['', 'a', '/a\0', `/${'x'.repeat(256)}`]) {
      expect(() => table.mount(path, new MemoryFs())).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    }
    expect(table.mounts()).toEqual([])
  })
})

describe('the disposable of a mount', () => {
  it('unmounts, however the mount point was spelled', () => {
    for (const path of ['/m', '/m/', '/x/../m', '//m']) {
      const table = new MountTable()
      table.mount(path, new MemoryFs())[Symbol.dispose]()
      expect(table.mounts(), path).toEqual([])
    }
  })

  it('keeps a later mount at the same path', () => {
    const table = new MountTable()
    const [first, second] = [new MemoryFs(), new MemoryFs()]
    const mounted = table.mount('/m', first)
    table.mount('/m', second, { replace: true })
    mounted[Symbol.dispose]()
    expect(table.mounts()).toEqual([{ path: '/m', fs: second }])
  })

  it('unmounts only its own mount, even when the same file system is mounted there again', () => {
    const table = new MountTable()
    const fs = new MemoryFs()
    const mounted = table.mount('/m', fs)
    mounted[Symbol.dispose]()
    table.mount('/m', fs)
    mounted[Symbol.dispose]()
    expect(table.mounts()).toEqual([{ path: '/m', fs }])
  })
})

describe('a table', () => {
  it('cannot be mounted inside itself, directly or through others', () => {
    const [outer, middle, inner] = [new MountTable(), new MountTable(), new MountTable()]
    const EINVAL = expect.objectContaining({ code: 'EINVAL' })
    expect(() => outer.mount('/self', outer)).toThrow(EINVAL)
    outer.mount('/middle', middle)
    middle.mount('/inner', inner)
    expect(() => inner.mount('/loop', outer)).toThrow(EINVAL)
    expect(() => middle.mount('/loop', outer)).toThrow(EINVAL)
    expect(inner.mounts()).toEqual([])
    outer.mount('/twice', inner)
  })

  it('declares the core capabilities that all its mounts have', () => {
    const table = new MountTable({ '/': new MemoryFs() })
    expect(table.capabilities).toEqual(new MemoryFs().capabilities)
    table.mount('/flat', new Limited(['read', 'write']))
    expect(table.capabilities.has('write')).toBe(true)
    for (const gone of ['mkdir', 'native-walk', 'native-read'] as const) {
      expect(table.capabilities.has(gone), gone).toBe(false)
    }
    expect(table.capabilities.has('link'), 'some of its paths may be links').toBe(true)
    table.mount('/ro', new ReadOnlyFs(new MemoryFs()))
    expect(table.capabilities.has('write')).toBe(false)
    table.unmount('/flat')
    table.unmount('/ro')
    expect(table.capabilities).toEqual(new MemoryFs().capabilities)
  })

  it('of read-only mounts declares no capability to change anything', () => {
    const { capabilities } = new MountTable({ '/': new ReadOnlyFs(new MemoryFs()) })
    for (const mutation of ['write', 'mkdir', 'append', 'rename'] as const) {
      expect(capabilities.has(mutation), mutation).toBe(false)
    }
  })

  it('applies the rules of each mount to its own paths', async () => {
    const table = new MountTable({
      '/': new MemoryFs(),
      '/ro': new ReadOnlyFs(new MemoryFs({ '/f': 'x' })),
      '/flat': new Limited(['read', 'write']),
    })
    const mount = '/ro'
    const EROFS = { code: 'EROFS', mount }
    await expect(table.write('/ro/f', 'y')).rejects.toMatchObject({ ...EROFS, path: '/ro/f' })
    await expect(table.append('/ro/f', 'y')).rejects.toMatchObject({ ...EROFS, path: '/ro/f' })
    await expect(table.mkdir('/ro/d')).rejects.toMatchObject({ ...EROFS, path: '/ro/d' })
    await expect(table.remove('/ro/f')).rejects.toMatchObject({ ...EROFS, path: '/ro/f' })
    await expect(table.rename('/ro/f', '/ro/g')).rejects.toMatchObject(EROFS)
    await expect(table.symlink('f', '/ro/l')).rejects.toMatchObject({ ...EROFS, path: '/ro/l' })
    await expect(table.mkdir('/flat/d')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/flat/d' })
    await expect(table.symlink('x', '/flat/l')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/flat/l' })
    await table.write('/f', 'z')
    expect(await readText(table, '/ro/f')).toBe('x')
  })

  it('reports the requested path when a mount beside a mount point rejects a directory', async () => {
    const refusals: [FileSystem, string][] = [
      [new ReadOnlyFs(new MemoryFs()), 'EROFS'],
      [new Limited(['read', 'write']), 'ENOTSUP'],
    ]
    for (const [root, code] of refusals) {
      const table = new MountTable({ '/': root, '/a/m': new MemoryFs() })
      await expect(table.mkdir('/x')).rejects.toMatchObject({ code, path: '/x' })
      await expect(table.mkdir('/a/x')).rejects.toMatchObject({ code, path: '/a/x' })
    }
  })
})

describe('rename and move', () => {
  const twoMounts = () =>
    new MountTable({ '/': new MemoryFs({ '/d/f': 'x', '/d/g': 'y' }), '/m': new MemoryFs({ '/old': 'z' }) })

  it('stay within a mount', async () => {
    const table = twoMounts()
    await table.rename('/d', '/e/d')
    expect(await walked(table)).toEqual(['/e/d/f', '/e/d/g', '/m/old'])
  })

  it('are EXDEV from one mount to another, and change nothing', async () => {
    const table = twoMounts()
    await expect(table.rename('/d', '/m/d')).rejects.toMatchObject({ code: 'EXDEV', path: '/d' })
    await expect(move(table, '/d/f', '/m/f')).rejects.toMatchObject({ code: 'EXDEV' })
    expect(await walked(table)).toEqual(['/d/f', '/d/g', '/m/old'])
  })

  it('cross mounts with across, also between the mounts of an inner table', async () => {
    const table = twoMounts()
    await move(table, '/d', '/m/d', { across: true })
    expect(await walked(table)).toEqual(['/m/d/f', '/m/d/g', '/m/old'])
    const outer = new MountTable({ '/in': twoMounts() })
    await expect(move(outer, '/in/d', '/in/m/d')).rejects.toMatchObject({ code: 'EXDEV', path: '/in/d' })
    await move(outer, '/in/d', '/in/m/d', { across: true })
    expect(await walked(outer)).toEqual(['/in/m/d/f', '/in/m/d/g', '/in/m/old'])
  })

  it('across mounts are EEXIST onto an existing path unless overwrite is set', async () => {
    const table = twoMounts()
    await table.mkdir('/m/dir')
    await table.write('/m/full/f', '')
    const across = true
    for (const [from, to] of [
      ['/d/f', '/m/old'],
      ['/d/f', '/m/dir'],
      ['/d', '/m/old'],
      ['/d', '/m/full'],
    ] as const) {
      await expect(move(table, from, to, { across }), `${from} ${to}`).rejects.toMatchObject({
        code: 'EEXIST',
      })
    }
    await move(table, '/d/f', '/m/old', { across, overwrite: true })
    expect(await readText(table, '/m/old')).toBe('x')
  })
})

describe('links', () => {
  it('to paths that another mount hides make realpath throw', async () => {
    const root = new MemoryFs({ '/m/hidden': 'below the mount' })
    await root.symlink('/m', '/to-mount')
    const table = new MountTable({ '/': root, '/m': new MemoryFs({ '/f': 'x' }) })
    const EXDEV = { code: 'EXDEV', path: '/to-mount/f' }
    await expect(table.realpath('/to-mount/f')).rejects.toMatchObject(EXDEV)
    await expect(table.realpath('/to-mount', { followLast: true })).rejects.toMatchObject({ code: 'EXDEV' })
    expect(await table.realpath('/to-mount')).toBe('/to-mount')
  })

  it('are followed inside their mount, and realpath returns the path in the table', async () => {
    const inner = new MemoryFs({ '/a/f': 'inside' })
    await inner.symlink('/a', '/absolute')
    await inner.symlink('../../../a', '/relative')
    const table = new MountTable({
      '/': new MemoryFs({ '/a/f': 'outside' }),
      '/x/m': new MountTable({ '/deep': inner }),
    })
    for (const link of ['/x/m/deep/absolute', '/x/m/deep/relative']) {
      expect(await readText(table, `${link}/f`)).toBe('inside')
      expect(await table.realpath(`${link}/f`)).toBe('/x/m/deep/a/f')
      expect(await table.realpath(link)).toBe(link)
      expect(await table.realpath(link, { followLast: true })).toBe('/x/m/deep/a')
    }
    for (const path of ['/', '/x', '/x/m', '/x/m/deep', '/a/f', '/missing']) {
      expect(await table.realpath(path)).toBe(path)
    }
  })

  it('are created and read if the mount supports them', async () => {
    const table = new MountTable({
      '/m': new MemoryFs({ '/f': 'x' }),
      '/plain': new Limited(['read', 'write']),
    })
    await table.symlink('f', '/m/link')
    expect(await table.readlink('/m/link')).toBe('f')
    await expect(table.readlink('/m/f')).rejects.toMatchObject({ code: 'EINVAL', path: '/m/f', mount: '/m' })
    await expect(table.symlink('f', '/plain/link')).rejects.toMatchObject({
      code: 'ENOTSUP',
      path: '/plain/link',
    })
    await expect(table.symlink('f', '/nowhere')).rejects.toMatchObject({ code: 'ENOENT', path: '/nowhere' })
  })
})

describe('errors', () => {
  it('of a listing that is partly in memory carry the path of the table', async () => {
    const table = new MountTable({ '/m': new Unreadable() })
    const expected = { code: 'EIO', path: '/m/d', mount: '/m' }
    await expect(names(table, '/m/d')).rejects.toMatchObject(expected)
    await expect(list(table, '/m/d')).rejects.toMatchObject(expected)
  })

  it('of streams and calls have paths of the namespace', async () => {
    const guarded = new Guarded({ '/s/f': 'x' })
    guarded.denied.push('/s')
    const table = new MountTable({ '/out': new MountTable({ '/in': guarded }) })
    const deniedAt = (path: string) => ({ code: 'EACCES', path, mount: '/out/in' })
    await expect(table.stat('/out/in/s/f')).rejects.toMatchObject(deniedAt('/out/in/s/f'))
    await expect(readText(table, '/out/in/s/f')).rejects.toMatchObject(deniedAt('/out/in/s/f'))
    await expect(names(table, '/out/in/s')).rejects.toMatchObject(deniedAt('/out/in/s'))
    await expect(names(table, '/out/in/x')).rejects.toMatchObject({ code: 'ENOENT', path: '/out/in/x' })
  })

  it('in the middle of a stream have paths of the namespace', async () => {
    class Breaking extends MemoryFs {
      protected override async *doRead(path: string): AsyncGenerator<Uint8Array> {
        yield Uint8Array.of(1)
        throw new VfsError('EIO', path, { op: 'read' })
      }
    }
    const table = new MountTable({ '/m': new Breaking({ '/f': '' }) })
    await expect(readText(table, '/m/f')).rejects.toMatchObject({ code: 'EIO', path: '/m/f', mount: '/m' })
  })

  it('that are no VfsErrors pass unchanged', async () => {
    const failure = new TypeError('a bug')
    class Buggy extends MemoryFs {
      protected override doStat(): never {
        throw failure
      }
    }
    await expect(new MountTable({ '/m': new Buggy() }).stat('/m/x')).rejects.toBe(failure)
  })

  it('of incoming content keep their path and mount', async () => {
    const guarded = new Guarded({ '/f': 'x' })
    guarded.denied.push('/f')
    const table = new MountTable({ '/from': guarded, '/to': new MemoryFs() })
    const expected = { code: 'EACCES', path: '/from/f', mount: '/from' }
    await expect(table.write('/to/f', table.read('/from/f'))).rejects.toMatchObject(expected)
    await expect(table.append('/to/f', table.read('/from/f'))).rejects.toMatchObject(expected)
    expect(await table.exists('/to/f')).toBe(false)
  })

  it('of content inside one mount have paths of the namespace', async () => {
    class Unreadable extends MemoryFs {
      protected override async *doRead(path: string): AsyncGenerator<Uint8Array> {
        yield Uint8Array.of(1)
        throw new VfsError('EIO', path, { op: 'read' })
      }
    }
    // Appending copies the file up first: from lower into a table, all of it below the mount point.
    const overlay = new OverlayFs(new Unreadable({ '/d/f': 'x' }), new MountTable({ '/': new MemoryFs() }))
    const table = new MountTable({ '/o': overlay })
    await expect(table.append('/o/d/f', 'y')).rejects.toMatchObject({ code: 'EIO', path: '/o/d/f' })
  })

  it('of a copy across mounts have the path of the side that failed', async () => {
    class Unreadable extends MemoryFs {
      protected override async *doRead(path: string): AsyncGenerator<Uint8Array> {
        yield Uint8Array.of(1)
        throw new VfsError('EIO', path, { op: 'read' })
      }
    }
    const table = new MountTable({ '/from': new Unreadable({ '/d/f': 'x' }), '/to': new MemoryFs() })
    const expected = { code: 'EIO', path: '/from/d/f', mount: '/from' }
    await expect(copy(table, '/from/d', '/to/d')).rejects.toMatchObject(expected)
    await expect(move(table, '/from/d/f', '/to/f', { across: true })).rejects.toMatchObject(expected)
    expect(await walked(table, '/', { includeDirs: true })).toEqual(['/from', '/from/d', '/from/d/f', '/to'])
  })
})

describe('walk', () => {
  it('never yields what a mount hides', async () => {
    const root = new MemoryFs({ '/m/hidden': 'x', '/m/sub/hidden': 'y', '/n': 'hidden too', '/seen': 'z' })
    const table = new MountTable({ '/': root, '/m': new MemoryFs({ '/shown': 'm' }), '/n': new MemoryFs() })
    expect(await walked(table, '/', { includeDirs: true })).toEqual(['/m', '/m/shown', '/n', '/seen'])
    expect(await walked(table, '/m/sub')).toEqual([])
    expect(await table.exists('/m/hidden')).toBe(false)
  })

  it('counts its depth from its root, across mounts', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/f': '', '/d/f': '', '/d/e/f': '' }),
      '/d/m': new MemoryFs({ '/f': '', '/x/f': '' }),
      '/d/s/t': new MountTable({ '/u': new MemoryFs({ '/f': '' }) }),
    })
    const all = await walked(table, '/', { includeDirs: true })
    for (const root of ['/', '/d', '/d/m', '/d/s', '/d/s/t']) {
      for (let maxDepth = 0; maxDepth < 6; maxDepth++) {
        const levels = (path: string) => path.split('/').length - (root === '/' ? 1 : root.split('/').length)
        const expected = all.filter(
          (path) => path !== root && isWithin(path, root) && levels(path) <= maxDepth,
        )
        expect(await walked(table, root, { includeDirs: true, maxDepth }), `${root} ${maxDepth}`).toEqual(
          expected,
        )
      }
    }
  })

  it('goes depth first in the order of names, mounts in their place', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/a': '', '/b/f': '', '/d': '' }),
      '/c/deep': new MemoryFs({ '/f': '' }),
      '/b/m': new MemoryFs({ '/f': '' }),
    })
    expect(await walked(table)).toEqual(['/a', '/b/f', '/b/m/f', '/c/deep/f', '/d'])
  })

  it('can be left early on infinite trees and directories, through any layer', async () => {
    const endless = new Endless()
    const layers = [
      endless,
      new MountTable({ '/': endless, '/a/b': new MemoryFs({ '/f': '' }), '/zz': new MemoryFs() }),
      new MountTable({ '/': new MountTable({ '/': endless }) }),
      new OverlayFs(endless),
      new ReadOnlyFs(new OverlayFs(endless, new MemoryFs({ '/a/f': '' }))),
    ]
    for (const fs of layers) {
      const before = endless.listed
      let steps = 0
      for await (const _ of fs.walk('/', { includeDirs: true })) if (++steps === 20) break
      for await (const _ of fs.walk('/', { includeDirs: true, maxDepth: 1 })) if (++steps === 40) break
      expect(steps).toBe(40)
      expect(endless.listed - before).toBeLessThan(100)
    }
  })

  it('skips unreadable paths and continues', async () => {
    const root = new Guarded({ '/a/f': '', '/b/f': '', '/c/f': '' })
    const table = new MountTable({
      '/': root,
      '/b/m': new MemoryFs({ '/g': '' }),
      '/z': new MemoryFs({ '/f': '' }),
    })
    root.denied.push('/a', '/b')
    expect(await walked(table)).toEqual(['/c/f', '/z/f'])
  })
})

describe('fork', () => {
  it('keeps a file system that is mounted twice a single one', async () => {
    const shared = new MemoryFs({ '/f': 'x' })
    const table = new MountTable({ '/a': shared, '/b': shared })
    const fork = table.fork()
    await fork.write('/a/f', 'forked')
    expect(await readText(fork, '/b/f')).toBe('forked')
    expect(await readText(table, '/b/f')).toBe('x')
  })

  it('forks nested tables and overlays', async () => {
    const table = new MountTable({
      '/t': new MountTable({ '/m': new MemoryFs({ '/f': 'x' }) }),
      '/o': new OverlayFs(new MemoryFs({ '/f': 'y' })),
    })
    const fork = table.fork()
    await fork.write('/t/m/f', '1')
    await fork.remove('/o/f')
    await table.write('/o/g', '2')
    expect([await readText(table, '/t/m/f'), await readText(table, '/o/f')]).toEqual(['x', 'y'])
    expect(await walked(fork)).toEqual(['/t/m/f'])
  })

  it('has its own mounts', () => {
    const table = new MountTable({ '/m': new MemoryFs() })
    const fork = table.fork()
    fork.unmount('/m')
    table.mount('/n', new MemoryFs())
    expect(fork.mounts()).toEqual([])
    expect(table.mounts().map(({ path }) => path)).toEqual(['/m', '/n'])
  })

  it('is ENOTSUP for a writable mount that cannot fork, with its path', () => {
    const table = new MountTable({ '/ok': new MemoryFs(), '/not': new Limited(['read', 'write']) })
    expect(table.capabilities.has('fork')).toBe(false)
    expect(() => table.fork()).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', mount: '/not', path: '/not' }),
    )
  })

  it('shares a read-only mount', async () => {
    const fixed = new Limited(['read'], { '/f': 'x' })
    const table = new MountTable({ '/': new MemoryFs(), '/fixed': fixed })
    expect(table.capabilities.has('fork')).toBe(true)
    expect(table.fork().mounts()[0]).toEqual({ path: '/fixed', fs: fixed })
  })
})

describe('materialize', () => {
  it('calls every mount with its own root', async () => {
    const [root, a, deep] = [new Lazy(), new Lazy(), new Lazy()]
    const table = new MountTable({ '/': root, '/a': a, '/b/c': new MountTable({ '/d': deep }) })
    await table.materialize()
    expect([root.prefixes, a.prefixes, deep.prefixes]).toEqual([['/'], ['/'], ['/']])
  })

  it('calls only the mounts of a prefix, with the inner path', async () => {
    const [root, a, ab, b] = [new Lazy(), new Lazy(), new Lazy(), new Lazy()]
    const table = new MountTable({ '/': root, '/a': a, '/a/x/b': ab, '/ab': b })
    await table.materialize({ prefix: '/a/x' })
    expect([root.prefixes, a.prefixes, ab.prefixes, b.prefixes]).toEqual([[], ['/x'], ['/'], []])
    await table.materialize({ prefix: '/a/x/b/deep' })
    expect([a.prefixes.length, ab.prefixes]).toEqual([1, ['/', '/deep']])
  })

  it('stops at the first error and reports its mount', async () => {
    const mounts = { '/a': new Lazy(), '/b': new Lazy(), '/c': new Lazy() }
    mounts['/b'].broken = true
    const outer = new MountTable({ '/t': new MountTable(mounts) })
    await expect(outer.materialize()).rejects.toMatchObject({ code: 'EIO', path: '/t/b', mount: '/t/b' })
    const asked = Object.values(mounts).filter(({ prefixes }) => prefixes.length > 0)
    expect(asked.length).toBeLessThan(3)
  })
})

describe('search', () => {
  it('crosses mounts in the order of the walk, with paths of the namespace', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/a': 'hit', '/m/hidden': 'hit', '/z': 'hit' }),
      '/m': new Limited(['read', 'write', 'mkdir'], { '/f': 'hit', '/d/g': 'miss\nhit' }),
      '/n/deep': new MountTable({ '/in': new MemoryFs({ '/f': 'hit' }) }),
    })
    const found = await Array.fromAsync(table.search('/', { pattern: 'hit' }))
    expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual([
      '/a:1',
      '/m/d/g:2',
      '/m/f:1',
      '/n/deep/in/f:1',
      '/z:1',
    ])
    expect((await Array.fromAsync(table.search('/m/f', { pattern: 'hit' }))).length).toBe(1)
  })

  it('skips an unreadable file, also one beside a mount point', async () => {
    class Secretive extends Limited {
      protected override doRead(path: string, options: object): AsyncIterable<Uint8Array> {
        if (path === '/secret') throw new VfsError('EACCES', path, { op: 'read' })
        return super.doRead(path, options)
      }
    }
    const seed = { '/a': 'hit', '/secret': 'hit', '/z': 'hit' }
    const alone = new MountTable({ '/': new Secretive(['read'], seed) })
    const beside = new MountTable({ '/': new Secretive(['read'], seed), '/m': new MemoryFs() })
    for (const table of [alone, beside]) {
      const found = await Array.fromAsync(grep(table, '/', 'hit'))
      expect(found.map(({ path }) => path)).toEqual(['/a', '/z'])
    }
  })

  it('is ENOENT for a root that does not exist, and empty for a directory that only leads to a mount', async () => {
    const table = new MountTable({ '/a/b': new MemoryFs() })
    expect(await Array.fromAsync(table.search('/a', { pattern: 'x' }))).toEqual([])
    const missing = { code: 'ENOENT' }
    await expect(Array.fromAsync(table.search('/a/b/x', { pattern: 'x' }))).rejects.toMatchObject(missing)
    await expect(Array.fromAsync(table.search('/x', { pattern: 'x' }))).rejects.toMatchObject(missing)
  })
})

describe('random tables', () => {
  const name = fc.constantFrom('a', 'b', 'ab')
  const mountPoint = fc.array(name, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
  const filePath = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
  const kind = fc.constantFrom('memory', 'plain', 'table', 'overlay')
  const mounts = fc.uniqueArray(fc.record({ path: mountPoint, kind }), {
    selector: ({ path }) => path,
    maxLength: 6,
  })

  function backend(of: string, seed: Record<string, string> = {}): FileSystem {
    if (of === 'plain') return new Limited(['read', 'write', 'mkdir'], seed)
    if (of === 'table') return new MountTable({ '/': new MemoryFs(seed), '/a/b': new MemoryFs() })
    return of === 'overlay' ? new OverlayFs(new MemoryFs(seed)) : new MemoryFs(seed)
  }

  async function expectListed(table: FileSystem, path = '/'): Promise<void> {
    const entries = await Array.fromAsync(table.readdir(path))
    const listed = entries.map((entry) => entry.name)
    expect(listed).toEqual([...new Set(listed)].sort())
    for (const { name, type } of entries) {
      const below = path === '/' ? `/${name}` : `${path}/${name}`
      expect((await table.stat(below)).type, below).toBe(type)
      if (type === 'directory') await expectListed(table, below)
    }
  }

  it('walk exactly the files written through them, and read them back', async () => {
    const property = fc.asyncProperty(mounts, fc.array(filePath, { maxLength: 12 }), async (all, paths) => {
      const table = new MountTable(Object.fromEntries(all.map(({ path, kind }) => [path, backend(kind)])))
      const written = new Set<string>()
      for (const path of paths) {
        const stored = await table.write(path, path).then(
          () => true,
          () => false,
        )
        if (stored) written.add(path)
      }
      expect((await walked(table)).toSorted()).toEqual([...written].sort())
      for (const path of written) expect(await readText(table, path)).toBe(path)
      await expectListed(table)
    })
    await fc.assert(property, { numRuns: 300 })
  })

  it('walk, list and read the same whatever a mount point hides', async () => {
    const seeds = fc.array(filePath, { maxLength: 6 })
    const seeded = fc.array(fc.record({ path: mountPoint, kind, seeds }), { maxLength: 5 })
    const property = fc.asyncProperty(seeded, async (all) => {
      const points = all.map(({ path }) => path)
      const table = new MountTable()
      for (const { path, kind, seeds } of all) {
        const outer = (seed: string) => (path === '/' ? seed : path + seed)
        // A file where a directory has to lead to a mount point is a case of its own.
        const free = seeds.filter((seed) => !points.some((point) => isWithin(dirname(point), outer(seed))))
        const kept = free.filter((seed) => !free.some((other) => other !== seed && isWithin(other, seed)))
        const isTaken = kind === 'table' && kept.some((seed) => isWithin('/a', seed))
        table.mount(
          path,
          backend(isTaken ? 'memory' : kind, Object.fromEntries(kept.map((seed) => [seed, path]))),
          {
            replace: true,
          },
        )
      }
      for (const path of await walked(table)) expect(await readText(table, path)).toBeTypeOf('string')
      await expectListed(table)
      const everything = await walked(table, '/', { includeDirs: true })
      for (const path of everything) expect(await table.exists(path), path).toBe(true)
      expect(new Set(everything).size).toBe(everything.length)
    })
    await fc.assert(property, { numRuns: 200 })
  })
})

describe('the identity of a file', () => {
  it('is unique over all mounts, nested ones included', async () => {
    const inner = new MountTable({ '/': new MemoryFs({ '/f': '' }), '/m': new MemoryFs({ '/f': '' }) })
    const fs = new MountTable({
      '/': new MemoryFs({ '/f': '' }),
      '/x/y': inner,
      '/z': new MemoryFs({ '/f': '' }),
    })
    const paths = await walked(fs, '/', { includeDirs: true })
    expect(paths).toContain('/x/y/m/f')
    const numbers = await Promise.all(paths.map(async (path) => (await fs.identity(path)).ino))
    expect(new Set(numbers).size).toBe(paths.length)
    expect(paths.map((path) => fs.sync.stat(path).ino)).toEqual(numbers)
    using handle = disposable(fs.sync.open('/x/y/m/f'))
    expect(handle.stat().ino).toBe(fs.sync.stat('/x/y/m/f').ino)
  })

  it('cannot be shared across mounts: EXDEV', async () => {
    const fs = new MountTable({ '/': new MemoryFs({ '/f': 'x' }), '/m': new MemoryFs() })
    const EXDEV = expect.objectContaining({ code: 'EXDEV', path: '/f', op: 'link' })
    await expect(fs.link('/f', '/m/f')).rejects.toEqual(EXDEV)
    expect(() => fs.sync.link('/f', '/m/f')).toThrow(EXDEV)
    await expect(fs.link('/m', '/n')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(fs.link('/f', '/m')).rejects.toMatchObject({ code: 'EEXIST' })
  })
})

describe('the synchronous face', () => {
  const files = () => ({
    '/': new MemoryFs({ '/a/real': 'x', '/f': 'x' }),
    '/a/b/m': new MemoryFs({ '/g': 'y' }),
  })

  it('is declared if every mount has one', () => {
    expect(new MountTable(files()).capabilities.has('sync')).toBe(true)
    expect(new MountTable({ ...files(), '/plain': new Endless() }).capabilities.has('sync')).toBe(false)
    expect(() => new MountTable({ '/plain': new Endless() }).sync.stat('/plain/x')).toThrow(
      expect.objectContaining({ code: 'ENOTSUP', path: '/plain' }),
    )
  })

  it('shows mount points and the directories that lead to them, as the other does', async () => {
    const fs = new MountTable(files())
    for (const path of ['/', '/a', '/a/b', '/a/b/m']) {
      expect(fs.sync.readdir(path)).toEqual(await Array.fromAsync(fs.readdir(path)))
      const { ino: _, nlink: __, ...stat } = fs.sync.stat(path)
      expect(stat).toEqual(await fs.stat(path))
    }
    fs.sync.mkdir('/a/b/made')
    expect(fs.sync.readdir('/a/b').map(({ name }) => name)).toEqual(['m', 'made'])
  })

  it('changes no hidden path when attributes of a directory above a mount point are set', async () => {
    const root = new MemoryFs({ '/a': 'hidden' })
    const fs = new MountTable({ '/': root, '/a/m': new MemoryFs() })
    const refusal = expect.objectContaining({ code: 'ENOTSUP', path: '/a' })
    await expect(fs.setattr('/a', { mode: 0o700 })).rejects.toEqual(refusal)
    expect(() => fs.sync.setattr('/a', { mode: 0o700 })).toThrow(refusal)
    expect((await root.stat('/a')).mode).toBe(0o644)
    await fs.setattr('/a/m', { mode: 0o700 })
    fs.sync.setattr('/', { mode: 0o711 })
    expect([(await fs.stat('/a/m')).mode, (await fs.stat('/')).mode]).toEqual([0o700, 0o711])
  })

  it('protects mount points, stays within one mount and reports paths of the namespace', () => {
    const fs = new MountTable(files())
    const failure = (code: string, path: string) => expect.objectContaining({ code, path })
    expect(() => fs.sync.remove('/a', { recursive: true })).toThrow(failure('EINVAL', '/a'))
    expect(() => fs.sync.rmdir('/a/b/m')).toThrow(failure('EINVAL', '/a/b/m'))
    expect(() => fs.sync.rename('/a/b/m', '/n')).toThrow(failure('EINVAL', '/a/b/m'))
    expect(() => fs.sync.rename('/f', '/a/b/m/f')).toThrow(failure('EXDEV', '/f'))
    expect(() => fs.sync.symlink('x', '/a/b')).toThrow(failure('EEXIST', '/a/b'))
    expect(() => fs.sync.mkdir('/a/b')).toThrow(failure('EEXIST', '/a/b'))
    expect(() => fs.sync.open('/a/b')).toThrow(failure('EISDIR', '/a/b'))
    expect(() => fs.sync.stat('/a/b/m/missing')).toThrow(
      expect.objectContaining({ code: 'ENOENT', path: '/a/b/m/missing', mount: '/a/b/m' }),
    )
    using handle = disposable(fs.sync.open('/a/b/m/g'))
    expect(() => handle.write(0, new Uint8Array(1))).toThrow(failure('EBADF', '/a/b/m/g'))
  })
})

function disposable<T extends { close(): void }>(handle: T): T & Disposable {
  return Object.assign(handle, { [Symbol.dispose]: () => handle.close() })
}
