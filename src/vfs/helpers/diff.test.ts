import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VfsError } from '../error.ts'
import type { Capability, DirEntry, FileSystem, ReadOptions } from '../file-system.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { OverlayFs } from '../overlay/overlay-fs.ts'
import type { PathChange } from '../protocols.ts'
import { ReadOnlyFs } from '../read-only-fs.ts'
import { diff } from './diff.ts'

async function changes(before: FileSystem, after: FileSystem, root?: string): Promise<string[]> {
  return (await Array.fromAsync(diff(before, after, root))).map(({ kind, path }) => `${kind} ${path}`)
}

/** A memory that cannot compare itself, and notes what is read of it. */
class Plain extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'link'])
  readonly reads: string[] = []

  protected override doRead(path: string, options: ReadOptions): AsyncIterable<Uint8Array> {
    this.reads.push(path)
    return super.doRead(path, options)
  }
}

const kinds: Readonly<Record<string, (fs: MemoryFs) => FileSystem>> = {
  memory: (fs) => fs,
  'read-only': (fs) => new ReadOnlyFs(fs),
  overlay: (fs) => new OverlayFs(fs),
  table: (fs) => new MountTable({ '/': fs }),
}

describe.each(Object.entries(kinds))('diff of two trees, the later one %s', (_name, wrapped) => {
  it('lists each change once, sorted by path, with both stats', async () => {
    const before = new MemoryFs({ '/a': '1', '/b/x': '2', '/c': '3', '/same': '4' })
    const after = before.fork()
    await after.write('/a', 'changed')
    await after.remove('/b', { recursive: true })
    await after.write('/b', 'a file')
    await after.remove('/c')
    await after.write('/c/in', 'a directory')
    await after.write('/same', '4')
    const found: PathChange[] = await Array.fromAsync(diff(before, wrapped(after)))
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'modified /a',
      'added /b',
      'deleted /b/x',
      'deleted /c',
      'added /c/in',
    ])
    expect(found[0]).toMatchObject({ before: { size: 1 }, after: { size: 7 } })
    expect(found[1]).toEqual({ kind: 'added', path: '/b', after: await after.stat('/b') })
    expect(found[3]).toEqual({ kind: 'deleted', path: '/c', before: await before.stat('/c') })
  })

  it('lists a directory only if it is empty on one side and missing on the other', async () => {
    const before = new MemoryFs({ '/full/f': '' })
    await before.mkdir('/gone/deep', { parents: true })
    await before.mkdir('/both')
    const after = new MemoryFs({ '/both/f': '' })
    await after.mkdir('/full')
    await after.mkdir('/made/deep', { parents: true })
    expect(await changes(before, wrapped(after))).toEqual([
      'added /both/f',
      'deleted /full/f',
      'deleted /gone/deep',
      'added /made/deep',
    ])
  })

  it('compares links by their targets, and files by content of the same length', async () => {
    const before = new MemoryFs({ '/f': 'abc' })
    const after = new MemoryFs({ '/f': 'abd' })
    await before.symlink('x', '/same')
    await before.symlink('x', '/other')
    await after.symlink('x', '/same')
    await after.symlink('y', '/other')
    expect(await changes(before, wrapped(after))).toEqual(['modified /f', 'modified /other'])
  })

  it('compares only below its root, however the root is spelled', async () => {
    const before = new MemoryFs({ '/d/x': '1', '/dx': '1', '/e': '1' })
    const after = new MemoryFs({ '/d/x': '2', '/d/sub/y': '3', '/dx': '2' })
    for (const root of ['/d', '/d/', '//d', '/d/sub/..']) {
      expect(await changes(before, wrapped(after), root), root).toEqual(['added /d/sub/y', 'modified /d/x'])
    }
    expect(await changes(before, wrapped(after), '/nowhere')).toEqual([])
  })
})

describe('a diff of relatives', () => {
  it('does not read shared files', async () => {
    const seed = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`/d${i}/f`, `${i}`]))
    const fixed = new Plain(seed)
    const table = new MountTable({ '/': new MemoryFs(seed), '/fixed': fixed })
    const fork = table.fork()
    await fork.write('/d7/f', 'changed')
    expect(await changes(table, fork)).toEqual(['modified /d7/f'])
    expect(fixed.reads).toEqual([])
  })

  it('does not enter a shared mount, even an infinite one', async () => {
    class Endless extends Plain {
      listed = 0
      protected override async *doReaddir(): AsyncGenerator<DirEntry> {
        for (;;) {
          if (++this.listed > 1000) throw new Error('it went into the endless directory')
          yield { name: `n${this.listed}`, type: 'file' }
        }
      }
    }
    const table = new MountTable({ '/': new MemoryFs({ '/f': '1' }), '/endless': new Endless() })
    const fork = table.fork()
    await fork.write('/f', '2')
    expect(await changes(table, fork)).toEqual(['modified /f'])
  })

  it('omits paths that a mount hides, on either side', async () => {
    const root = new MemoryFs({ '/m/hidden': '1', '/seen': '1' })
    const table = new MountTable({ '/': root, '/m': new MemoryFs({ '/f': '1' }), '/n/deep': new MemoryFs() })
    const fork = table.fork()
    const [forkedRoot] = fork.mounts().filter(({ path }) => path === '/')
    await forkedRoot?.fs.write('/m/hidden', 'changed below the mount')
    await forkedRoot?.fs.write('/n', 'a file where a directory leads to a mount')
    await fork.write('/m/f', '2')
    expect(await changes(table, fork)).toEqual(['modified /m/f'])
  })

  it('reports errors with paths of the namespace', async () => {
    class Denied extends Plain {
      protected override doRead(path: string): never {
        throw new VfsError('EACCES', path, { op: 'read' })
      }
    }
    const before = new MountTable({ '/m': new Denied({ '/f': '1' }) })
    const after = new MountTable({ '/m': new Denied({ '/f': '2' }) })
    await expect(changes(before, after)).rejects.toMatchObject({ code: 'EACCES', path: '/m/f', mount: '/m' })
  })

  it('compares the visible paths of tables with different mount points', async () => {
    const before = new MountTable({ '/': new MemoryFs({ '/a/f': '1', '/b': '2' }) })
    const after = new MountTable({
      '/': new MemoryFs({ '/b': '2' }),
      '/a': new MemoryFs({ '/f': '1', '/g': '3' }),
    })
    expect(await changes(before, after)).toEqual(['added /a/g'])
  })

  it('finds the few differences in directories with many entries', async () => {
    const seed = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`/d/f${i}`, `${i}`]))
    const before = new MemoryFs(seed)
    const after = before.fork()
    for (let i = 0; i < 3000; i += 500) await after.remove(`/d/f${i}`)
    await after.write('/d/f1', 'changed')
    await after.write('/d/new', '')
    await before.write('/d/only-before', '')
    expect(await changes(before, after)).toEqual(
      [
        ...['0', '1000', '1500', '2000', '2500', '500'].map((i) => `deleted /d/f${i}`),
        'deleted /d/only-before',
        'added /d/new',
        'modified /d/f1',
      ].sort((a, b) => ((a.split(' ')[1] ?? '') < (b.split(' ')[1] ?? '') ? -1 : 1)),
    )
  })
})

describe('a native diff', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
    .map((parts) => `/${parts.join('/')}`)
  const step = fc.record({
    op: fc.constantFrom('write', 'write', 'append', 'mkdir', 'remove', 'symlink'),
    path,
    content: fc.constantFrom('', 'x', 'y'),
    isLeft: fc.boolean(),
  })

  async function perform(fs: MemoryFs, { op, path, content }: { op: string; path: string; content: string }) {
    if (op === 'write') await fs.write(path, content)
    if (op === 'append') await fs.append(path, content)
    if (op === 'mkdir') await fs.mkdir(path, { parents: true })
    if (op === 'remove') await fs.remove(path, { recursive: true })
    if (op === 'symlink') await fs.symlink(content || 'z', path)
  }

  it('equals the composed one, after any changes on both sides of a fork', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.array(step, { maxLength: 8 }),
      async (common, apart) => {
        const left = new MemoryFs()
        for (const one of common) await perform(left, one).catch(() => {})
        const right = left.fork()
        for (const one of apart) await perform(one.isLeft ? left : right, one).catch(() => {})
        const composed = await Array.fromAsync(diff(new ReadOnlyFs(left), new ReadOnlyFs(right)))
        expect(await Array.fromAsync(diff(left, right))).toEqual(composed)
        const tables = [new MountTable({ '/': left }), new MountTable({ '/': right })] as const
        expect(await Array.fromAsync(diff(...tables))).toEqual(composed)
      },
    )
    await fc.assert(property, { numRuns: 300 })
  })
})
