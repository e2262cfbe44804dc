import { describe, expect, it } from 'vitest'
import { assertSameVersion, Backend } from './backend.ts'
import { VfsError } from './error.ts'
import type { Capability, Content, DirEntry, Stat, WriteOptions } from './file-system.ts'
import { hash } from './helpers/hash.ts'
import { byteStream, collect } from './streams.ts'

/** The least a backend can be: a handful of files in a plain map, each directory listed from their names. */
class Shelf extends Backend {
  readonly capabilities: ReadonlySet<Capability>
  readonly files = new Map<string, Uint8Array>()
  listings = 0
  closed = 0

  constructor(
    capabilities: readonly Capability[] = ['read', 'write'],
    seed: Readonly<Record<string, string>> = {},
  ) {
    super()
    this.capabilities = new Set(capabilities)
    for (const [path, content] of Object.entries(seed)) this.files.set(path, Buffer.from(content))
  }

  protected doStat(path: string): Stat {
    const file = this.files.get(path)
    if (file === undefined && this.#namesIn(path).size === 0 && path !== '/')
      throw new VfsError('ENOENT', path, { op: 'stat' })
    return { type: file ? 'file' : 'directory', size: file?.length ?? 0, mtime: new Date(0), mode: null }
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    this.listings++
    try {
      if (path.endsWith('/denied')) throw new VfsError('EACCES', path, { op: 'readdir' })
      for (const [name, type] of this.#namesIn(path)) yield { name, type }
    } finally {
      this.closed++
    }
  }

  protected doRead(path: string, options: object): AsyncIterable<Uint8Array> {
    const file = this.files.get(path)
    if (file === undefined) throw new VfsError('ENOENT', path, { op: 'read' })
    return byteStream(file, path, options)
  }

  protected override async doWrite(path: string, content: Content, _options: WriteOptions): Promise<void> {
    this.files.set(path, await collect(content))
  }

  #namesIn(path: string): Map<string, 'file' | 'directory'> {
    const prefix = path === '/' ? '/' : `${path}/`
    const below = [...this.files.keys()].filter((file) => file.startsWith(prefix)).sort()
    return new Map(
      below.map((file) => {
        const [name = '', ...rest] = file.slice(prefix.length).split('/')
        return [name, rest.length > 0 ? 'directory' : 'file'] as const
      }),
    )
  }
}

describe('a backend', () => {
  it('throws ENOTSUP for operations it does not implement', async () => {
    const fs = new Shelf(['read', 'write', 'mkdir'])
    await expect(fs.mkdir('/d')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/d', op: 'mkdir' })
    await expect(fs.remove('/f')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/f', op: 'remove' })
  })

  it('throws ENOTSUP for a write that it declares but does not implement', async () => {
    class Careless extends Backend {
      readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write'])
      protected doStat(): Stat {
        return { type: 'directory', size: 0, mtime: new Date(0), mode: null }
      }
      protected doReaddir(path: string): never {
        throw new VfsError('EACCES', path, { op: 'readdir' })
      }
      protected doRead(path: string): never {
        throw new VfsError('EISDIR', path, { op: 'read' })
      }
    }
    const fs = new Careless()
    await expect(fs.write('/f', 'x')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/f', op: 'write' })
    await expect(fs.write('/f', 'x', { ifMatch: null })).rejects.toMatchObject({ code: 'EISDIR' })
    expect(await Array.fromAsync(fs.walk('/'))).toEqual([])
  })

  it('rejects what its capabilities exclude before the implementation is called', async () => {
    const flat = new Shelf(['read', 'write'])
    await expect(flat.mkdir('/d')).rejects.toMatchObject({ code: 'ENOTSUP' })
    const readOnly = new Shelf(['read'], { '/f': 'x' })
    for (const refused of [readOnly.write('/f', ''), readOnly.mkdir('/d'), readOnly.remove('/f')]) {
      await expect(refused).rejects.toMatchObject({ code: 'EROFS' })
    }
    expect(readOnly.files.get('/f')?.length).toBe(1)
  })

  it('never sees the root in a mutation', async () => {
    const fs = new Shelf(['read', 'write', 'mkdir'])
    await expect(fs.write('/', 'x')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(fs.mkdir('/.')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(fs.remove('/a/..')).rejects.toMatchObject({ code: 'EINVAL' })
    await fs.mkdir('/', { parents: true })
    expect(fs.files.size).toBe(0)
  })

  it('exists if stat succeeds, and rethrows errors other than a missing path', async () => {
    class Denied extends Shelf {
      protected override doStat(path: string): Stat {
        if (path === '/denied') throw new VfsError('EACCES', path, { op: 'stat' })
        return super.doStat(path)
      }
    }
    const fs = new Denied(['read'], { '/d/f': 'x' })
    expect([await fs.exists('/d'), await fs.exists('/d/f'), await fs.exists('/x')]).toEqual([
      true,
      true,
      false,
    ])
    await expect(fs.exists('/denied')).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('may throw instead of streaming: the error still surfaces at the first step', async () => {
    const stream = new Shelf().read('/missing')
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a composed walk', () => {
  const seed = { '/a/denied/x': '1', '/a/f': '2', '/b/c/g': '3', '/h': '4' }

  it('skips unreadable directories and continues', async () => {
    const fs = new Shelf(['read'], seed)
    const paths = (await Array.fromAsync(fs.walk('/', { includeDirs: true }))).map(({ path }) => path)
    expect(paths).toEqual(['/a', '/a/denied', '/a/f', '/b', '/b/c', '/b/c/g', '/h'])
  })

  it('skips an entry that is removed between listing and stat', async () => {
    class Fleeting extends Shelf {
      protected override doStat(path: string): Stat {
        if (path === '/a/f') throw new VfsError('ENOENT', path, { op: 'stat' })
        return super.doStat(path)
      }
    }
    const paths = (await Array.fromAsync(new Fleeting(['read'], seed).walk('/'))).map(({ path }) => path)
    expect(paths).toEqual(['/b/c/g', '/h'])
  })

  it('closes every directory it has open when it is left, and lists none that is too deep', async () => {
    const fs = new Shelf(['read'], seed)
    for await (const { path } of fs.walk('/')) if (path === '/b/c/g') break
    expect(fs.closed).toBe(fs.listings)
    fs.listings = 0
    await Array.fromAsync(fs.walk('/', { maxDepth: 1 }))
    expect(fs.listings).toBe(1)
    await Array.fromAsync(fs.walk('/', { maxDepth: 0 }))
    expect(fs.listings).toBe(1)
  })

  it('is empty for a missing root and for a file', async () => {
    const fs = new Shelf(['read'], seed)
    expect(await Array.fromAsync(fs.walk('/missing'))).toEqual([])
    expect(await Array.fromAsync(fs.walk('/h'))).toEqual([])
  })

  it('rejects a depth that is not an integer from 0', async () => {
    for (const maxDepth of [-1, 1.5, Number.NaN]) {
      const walk = Array.fromAsync(new Shelf().walk('/', { maxDepth }))
      await expect(walk).rejects.toMatchObject({ code: 'EINVAL', op: 'walk' })
    }
    expect(await Array.fromAsync(new Shelf().walk('/', { maxDepth: Number.POSITIVE_INFINITY }))).toEqual([])
  })

  it('rethrows an error that is no VfsError', async () => {
    class Buggy extends Shelf {
      protected override doStat(): never {
        throw new TypeError('a bug')
      }
    }
    await expect(Array.fromAsync(new Buggy(['read'], seed).walk('/'))).rejects.toThrow('a bug')
  })
})

describe('writes to one path', () => {
  it('run one after another, while writes to other paths run concurrently', async () => {
    const log: string[] = []
    class Logging extends Shelf {
      protected override async doWrite(path: string, content: Content, options: WriteOptions): Promise<void> {
        log.push(`begin ${path} ${content}`)
        await Promise.resolve()
        await super.doWrite(path, content, options)
        log.push(`end ${path} ${content}`)
      }
    }
    const fs = new Logging()
    await Promise.all([fs.write('/a', '1'), fs.write('/a/', '2'), fs.write('/b', '3')])
    expect(log.slice(0, 2)).toEqual(['begin /a 1', 'begin /b 3'])
    expect(log.indexOf('end /a 1')).toBeLessThan(log.indexOf('begin /a 2'))
  })

  it('continue after one that failed', async () => {
    const fs = new Shelf()
    const broken = async function* () {
      yield 'half'
      throw new Error('the source broke')
    }
    const outcomes = await Promise.allSettled([fs.write('/f', broken()), fs.write('/f', 'after')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(Buffer.from(fs.files.get('/f') ?? []).toString()).toBe('after')
  })

  it('compare and swap', async () => {
    const fs = new Shelf()
    await fs.write('/f', 'one', { ifMatch: null })
    await expect(fs.write('/f', 'two', { ifMatch: null })).rejects.toMatchObject({
      code: 'ECONFLICT',
      path: '/f',
    })
    await fs.write('/f', 'two', { ifMatch: await hash(fs, '/f') })
    await expect(fs.write('/g', 'x', { ifMatch: 'abc' })).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(() => assertSameVersion('/f', 'v1', 'v1')).not.toThrow()
    expect(() => assertSameVersion('/f', 'v1', 'v2')).toThrow(/v1.*v2/)
  })
})
