import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  type CallContext,
  type Content,
  collect,
  dirname,
  MemoryFs,
  type MkdirOptions,
  readText,
  type StatChanges,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'
import { openTar, packTar, unpack } from './index.ts'

const THEN = 1_600_000_000_000

/** What is written takes a while to be there. */
class SlowlyWritten extends MemoryFs {
  override async write(path: string, content: Content, options?: WriteOptions, ctx?: CallContext) {
    await nextTurn()
    await nextTurn()
    await super.write(path, content, options, ctx)
  }
}

class CutShort extends MemoryFs {
  override async *walk(root: string, options?: WalkOptions, ctx?: CallContext): AsyncGenerator<WalkEntry> {
    yield* super.walk(root, options, ctx)
    throw new VfsError('EIO', root, { op: 'walk' })
  }
}

async function packed(): Promise<MemoryFs> {
  const fs = new MemoryFs({ '/a/one': '1', '/a/b/two': '22' }, { now: () => THEN })
  await fs.write('/run.sh', 'echo', { mode: 0o755 })
  await fs.symlink('a/one', '/link')
  await fs.mkdir('/empty')
  return new MemoryFs({ '/x.tar': await collect(packTar(fs)) })
}

describe('unpacking', () => {
  it('copies content, links, permissions and times into a directory', async () => {
    const target = new MemoryFs()
    const report = await unpack(await openTar(await packed(), '/x.tar'), target, { into: '/to/here' })
    expect(report).toEqual({ files: 3, directories: 3, links: 1, bytes: 7, unchanged: 0 })
    expect(await readText(target, '/to/here/link')).toBe('1')
    expect(await target.stat('/to/here/run.sh')).toMatchObject({ mode: 0o755, mtime: new Date(THEN) })
    expect(await target.stat('/to/here/a/b')).toMatchObject({ type: 'directory', mtime: new Date(THEN) })
    expect((await target.stat('/to/here/empty')).type).toBe('directory')
  })

  it('skips unchanged files, and replaces changed ones', async () => {
    const target = new MemoryFs()
    const archive = await openTar(await packed(), '/x.tar')
    await unpack(archive, target)
    await target.write('/a/one', 'changed')
    expect(await unpack(archive, target)).toMatchObject({ files: 1, links: 0, unchanged: 3 })
    expect(await readText(target, '/a/one')).toBe('1')
  })

  it('follows no existing link, except in the path of its own directory', async () => {
    const target = new MemoryFs({ '/secret/kept': 'kept' })
    await target.symlink('/secret', '/a')
    await target.symlink('/secret', '/into')
    const archive = await openTar(await packed(), '/x.tar')
    await expect(unpack(archive, target)).rejects.toMatchObject({ path: '/a' })
    expect(await target.exists('/secret/one')).toBe(false)
    await unpack(archive, target, { into: '/into' })
    expect(await readText(target, '/secret/a/one')).toBe('1')
  })

  it('reports a file that failed while a directory was created', async () => {
    class Slow extends MemoryFs {
      override async mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): Promise<void> {
        await nextTurn()
        await super.mkdir(path, options, ctx)
      }
    }
    const unhandled: unknown[] = []
    const hear = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', hear)
    try {
      const unpacking = unpack(new MemoryFs({ '/a': 'x', '/b/c': 'x' }), new Slow({ '/a/in': '' }))
      await expect(unpacking).rejects.toMatchObject({ code: 'EEXIST' })
      await nextTurn()
    } finally {
      process.off('unhandledRejection', hear)
    }
    expect(unhandled).toEqual([])
  })

  it.each([
    ['a directory', 'EEXIST', new MemoryFs({ '/a': 'x', '/b/c': 'y' })],
    ['a file', 'EEXIST', new MemoryFs({ '/a': 'x', '/in': 'y' })],
    ['what it is unpacked from', 'EIO', new CutShort({ '/a': 'x' })],
  ])('writes nothing more once it has rejected because %s failed', async (_what, code, from) => {
    const target = new SlowlyWritten({ '/b': 'in the way', '/in/the/way': '' })
    await expect(unpack(from, target)).rejects.toMatchObject({ code })
    expect(await target.exists('/a')).toBe(true)
  })

  it('fills directories without permission to write, and sets their permissions afterwards', async () => {
    /** Refuses what a host refuses to an ordinary user. */
    class Strict extends MemoryFs {
      override async write(path: string, content: Content, options?: WriteOptions): Promise<void> {
        await this.#assertAllowed(path, 0o300)
        await super.write(path, content, options)
      }

      override async setattr(path: string, changes: StatChanges): Promise<void> {
        await this.#assertAllowed(path, 0o100)
        await super.setattr(path, changes)
      }

      async #assertAllowed(path: string, needed: number): Promise<void> {
        const mode = (await this.stat(dirname(path))).mode ?? 0
        if ((mode & needed) !== needed) throw new VfsError('EACCES', path)
      }
    }
    const from = new MemoryFs({ '/a/b/f': 'x' })
    await from.setattr('/a/b', { mode: 0o555 })
    await from.setattr('/a', { mode: 0o400 })
    const target = new Strict()
    await unpack(from, target)
    expect((await target.stat('/a')).mode).toBe(0o400)
    expect((await target.stat('/a/b')).mode).toBe(0o555)
    expect(await readText(target, '/a/b/f')).toBe('x')
  })

  it('creates each directory without parents, which exist already', async () => {
    class Recorded extends MemoryFs {
      readonly made: unknown[] = []
      override async mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): Promise<void> {
        this.made.push([path, options?.parents ?? false])
        await super.mkdir(path, options, ctx)
      }
    }
    const target = new Recorded({ '/a/b/there': '' })
    await unpack(new MemoryFs({ '/a/b/c/f': 'x' }), target)
    // Of those that exist, parents accept that they do.
    expect(target.made).toEqual([
      ['/a', false],
      ['/a', true],
      ['/a/b', false],
      ['/a/b', true],
      ['/a/b/c', false],
    ])
  })

  it('reports an existing path and leaves it', async () => {
    const target = new MemoryFs({ '/run.sh/inside': 'kept' })
    const unpacking = unpack(await openTar(await packed(), '/x.tar'), target)
    await expect(unpacking).rejects.toMatchObject({ code: 'EEXIST', path: '/run.sh' })
    expect(await readText(target, '/run.sh/inside')).toBe('kept')
  })
})
