import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import {
  type CallContext,
  type FileSystem,
  isVfsError,
  MemoryFs,
  move,
  readText,
  type WalkEntry,
} from '../vfs/index.ts'
import { asSystem, contextCaller, type GuardedFs, guard, type PathQuota, zonePolicy } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const bob: CallContext = { caller: contextCaller('bob') }
const ENOSPC = { code: 'ENOSPC' }

const homes: PathQuota = { root: '/home', each: true, bytes: 100, files: 3 }
const shared: PathQuota = { root: '/shared', bytes: 1000 }

function limited(fs: FileSystem = new MemoryFs(), quotas: readonly PathQuota[] = [homes, shared]): GuardedFs {
  return guard(fs, [zonePolicy()], { quotas })
}

async function* streamed(...sizes: number[]): AsyncGenerator<string> {
  for (const size of sizes) yield 'x'.repeat(size)
}

describe('a quota', () => {
  it('rejects a write, an append and a stream beyond it, and stores nothing of them', async () => {
    const fs = limited()
    await fs.write('/home/alice/f', 'x'.repeat(90), {}, alice)
    await expect(fs.write('/home/alice/g', 'x'.repeat(11), {}, alice)).rejects.toMatchObject({
      ...ENOSPC,
      path: '/home/alice/g',
      message: expect.stringMatching(/\/home\/alice would hold 101 bytes, its quota is 100/),
    })
    await expect(fs.append('/home/alice/f', 'x'.repeat(11), alice)).rejects.toMatchObject(ENOSPC)
    await expect(fs.write('/home/alice/g', streamed(5, 5, 5), {}, alice)).rejects.toMatchObject(ENOSPC)
    await expect(fs.append('/home/alice/f', streamed(5, 5, 5), alice)).rejects.toMatchObject(ENOSPC)
    expect(await fs.exists('/home/alice/g')).toBe(false)
    expect((await fs.stat('/home/alice/f')).size).toBe(90)
    await fs.write('/home/alice/g', streamed(5, 5), {}, alice)
    await expect(fs.append('/home/alice/f', 'x', alice)).rejects.toMatchObject(ENOSPC)
  })

  it('counts the size after an overwrite, not the bytes written', async () => {
    const fs = limited()
    await fs.write('/home/alice/f', 'x'.repeat(90), {}, alice)
    await fs.write('/home/alice/f', 'x'.repeat(100), {}, alice)
    await fs.write('/home/alice/f', streamed(60, 30), {}, alice)
    await fs.write('/home/alice/g', 'x'.repeat(10), {}, alice)
    await expect(fs.write('/home/alice/f', 'x'.repeat(91), {}, alice)).rejects.toMatchObject(ENOSPC)
  })

  it('counts files and links, and frees the space of removed ones', async () => {
    const fs = limited()
    for (const name of ['a', 'b']) await fs.write(`/home/alice/d/${name}`, '', {}, alice)
    await fs.symlink('a', '/home/alice/d/link', alice)
    await expect(fs.write('/home/alice/c', '', {}, alice)).rejects.toMatchObject(ENOSPC)
    await expect(fs.symlink('a', '/home/alice/c', alice)).rejects.toMatchObject(ENOSPC)
    await fs.mkdir('/home/alice/empty', {}, alice)
    await fs.remove('/home/alice/d', { recursive: true }, alice)
    for (const name of ['a', 'b', 'c']) await fs.write(`/home/alice/${name}`, '', {}, alice)
  })

  it('counts growth under one name of a file under all of them', async () => {
    const fs = limited()
    await fs.write('/home/alice/a', '', {}, alice)
    await fs.link('/home/alice/a', '/home/alice/b', alice)
    await fs.write('/home/alice/a', 'x'.repeat(90), {}, alice)
    await fs.remove('/home/alice/b', {}, alice)
    await expect(fs.write('/home/alice/c', 'x'.repeat(20), {}, alice)).rejects.toMatchObject(ENOSPC)
    await fs.link('/home/alice/a', '/outside', asSystem)
    await fs.write('/outside', '', {}, asSystem)
    await fs.write('/home/alice/c', 'x'.repeat(20), {}, alice)
  })

  it('counts growth under one name of an open file under all of them', async () => {
    const fs = limited(await (await openHome()).createVault('base'))
    await fs.write('/home/alice/a', '', {}, alice)
    await using handle = await fs.open('/home/alice/a', { write: true }, alice)
    await fs.link('/home/alice/a', '/home/alice/b', alice)
    await handle.write(0, Buffer.alloc(90))
    await fs.remove('/home/alice/b', {}, alice)
    await expect(fs.write('/home/alice/c', 'x'.repeat(20), {}, alice)).rejects.toMatchObject(ENOSPC)
  })

  it('keeps its count when an open file is given a position or size that is no integer', async () => {
    const fs = limited(await (await openHome()).createVault('base'))
    await using handle = await fs.open('/home/alice/a', { write: true, create: true }, alice)
    await expect(handle.write(Number.NaN, Buffer.alloc(9))).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(handle.truncate(Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(handle.write(0, Buffer.alloc(200))).rejects.toMatchObject(ENOSPC)
  })

  it('counts growth under another name that a running count has passed already', async () => {
    const counted = Promise.withResolvers<void>()
    const grown = Promise.withResolvers<void>()
    class PausedWalk extends MemoryFs {
      override async *walk(...args: Parameters<MemoryFs['walk']>): AsyncGenerator<WalkEntry> {
        yield* super.walk(...args)
        if (args[0] !== '/home/bob') return
        counted.resolve()
        await grown.promise
      }
    }
    const below = new PausedWalk({ '/home/alice/f': '' })
    await below.mkdir('/home/bob')
    await below.link('/home/alice/f', '/home/bob/f')
    const fs = limited(below, [{ root: '/home', each: true, bytes: 100 }])
    const first = fs.write('/home/bob/g', 'x', {}, bob)
    await counted.promise
    await fs.write('/home/alice/f', 'x'.repeat(90), {}, alice)
    grown.resolve()
    await first
    await expect(fs.write('/home/bob/h', 'x'.repeat(20), {}, bob)).rejects.toMatchObject(ENOSPC)
  })

  it('applies to each home separately, and to no path without one', async () => {
    const fs = limited()
    await fs.write('/home/alice/f', 'x'.repeat(100), {}, alice)
    await fs.write('/home/bob/f', 'x'.repeat(100), {}, bob)
    await fs.write('/shared/f', 'x'.repeat(900), {}, bob)
    await expect(fs.write('/home/bob/g', 'x', {}, bob)).rejects.toMatchObject(ENOSPC)
  })

  it('counts existing files', async () => {
    const fs = limited(new MemoryFs({ '/home/alice/old': 'x'.repeat(95) }))
    await expect(fs.write('/home/alice/f', 'x'.repeat(6), {}, alice)).rejects.toMatchObject(ENOSPC)
    await fs.write('/home/alice/f', 'x'.repeat(5), {}, alice)
  })

  it('needs space at the target of a move, and frees it at the source', async () => {
    const fs = limited()
    await fs.write('/shared/d/f', 'x'.repeat(101), {}, alice)
    await expect(fs.rename('/shared/d', '/home/alice/d', {}, alice)).rejects.toMatchObject(ENOSPC)
    expect((await fs.stat('/shared/d/f')).size).toBe(101)
    await fs.write('/shared/d/f', 'x'.repeat(100), {}, alice)
    await fs.rename('/shared/d', '/home/alice/d', {}, alice)
    await expect(fs.write('/home/alice/g', 'x', {}, alice)).rejects.toMatchObject(ENOSPC)
    await fs.rename('/home/alice/d', '/home/alice/e', {}, alice)
    await move(fs, '/home/alice/e', '/shared/e', {}, alice)
    await fs.write('/home/alice/g', 'x'.repeat(100), {}, alice)
  })

  it('frees the space of what a move replaced', async () => {
    const fs = limited()
    for (const name of ['a', 'b']) await fs.write(`/home/alice/${name}`, 'x'.repeat(50), {}, alice)
    await fs.rename('/home/alice/a', '/home/alice/b', { overwrite: true }, alice)
    await fs.write('/home/alice/c', 'x'.repeat(50), {}, alice)
    await expect(fs.append('/home/alice/c', 'x', alice)).rejects.toMatchObject(ENOSPC)
  })

  it("counts the system's changes without rejecting them", async () => {
    const fs = limited()
    await fs.symlink('/home/alice', '/link', asSystem)
    await fs.write('/link/f', 'x'.repeat(200), {}, asSystem)
    await expect(fs.write('/home/alice/g', 'x', {}, alice)).rejects.toMatchObject(ENOSPC)
    await fs.write('/home/alice/f', 'x'.repeat(150), {}, alice)
    await fs.remove('/home', { recursive: true }, asSystem)
    await fs.write('/home/alice/g', 'x'.repeat(100), {}, alice)
  })

  it('applies to open files', async () => {
    const fs = limited(await (await openHome()).createVault('zones'))
    await using file = await fs.open('/home/alice/f', { write: true, create: true }, alice)
    await file.write(0, Buffer.alloc(90))
    await expect(file.write(50, Buffer.alloc(51))).rejects.toMatchObject(ENOSPC)
    await expect(file.truncate(101)).rejects.toMatchObject(ENOSPC)
    expect((await file.stat()).size).toBe(90)
    await file.truncate(10)
    await fs.write('/home/alice/g', 'x'.repeat(90), {}, alice)
    await expect(file.write(0, Buffer.alloc(11))).rejects.toMatchObject(ENOSPC)
  })

  it('is not exceeded by concurrent changes', async () => {
    const fs = limited(new MemoryFs(), [{ root: '/shared', bytes: 500, files: 20 }])
    const writes = Array.from({ length: 60 }, (_, at) =>
      fs.write(`/shared/${at}`, at % 2 === 0 ? 'x'.repeat(25) : streamed(10, 15), {}, alice),
    )
    const results = await Promise.allSettled(writes)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(await Array.fromAsync(fs.walk('/shared'))).toHaveLength(20)
  })

  it('detects changes by others before it rejects a change, and once a minute', async () => {
    const below = new MemoryFs({ '/home/alice/f': 'x'.repeat(100) })
    let time = 0
    const fs = guard(below, [zonePolicy()], { quotas: [homes], now: () => time })
    await expect(fs.write('/home/alice/g', 'x', {}, alice)).rejects.toMatchObject(ENOSPC)
    await below.remove('/home/alice/f')
    time += 2000
    await fs.write('/home/alice/g', 'x', {}, alice)
    await below.write('/home/alice/f', 'x'.repeat(99))
    time += 61_000
    await expect(fs.write('/home/alice/h', 'x', {}, alice)).rejects.toMatchObject(ENOSPC)
  })

  it('is released when a change fails', async () => {
    const fs = limited()
    async function* broken(): AsyncGenerator<string> {
      yield 'x'.repeat(90)
      throw new Error('the source broke')
    }
    await expect(fs.write('/home/alice/f', broken(), {}, alice)).rejects.toThrow('the source broke')
    await fs.write('/home/alice/f', 'x'.repeat(100), {}, alice)
    expect(await readText(fs, '/home/alice/f')).toHaveLength(100)
  })
})

const anyPath = fc.constantFrom(
  '/home/alice/a',
  '/home/alice/b',
  '/home/alice/d/c',
  '/shared/a',
  '/shared/d/b',
)
const anyStep = fc.oneof(
  fc.tuple(anyPath, fc.nat(60)).map(
    ([path, size]) =>
      (fs: GuardedFs) =>
        fs.write(path, 'x'.repeat(size), {}, alice),
  ),
  fc.tuple(anyPath, fc.nat(60)).map(
    ([path, size]) =>
      (fs: GuardedFs) =>
        fs.write(path, streamed(size), {}, alice),
  ),
  fc.tuple(anyPath, fc.nat(60)).map(
    ([path, size]) =>
      (fs: GuardedFs) =>
        fs.append(path, 'x'.repeat(size), alice),
  ),
  anyPath.map((path) => (fs: GuardedFs) => fs.remove(path, {}, alice)),
  fc.tuple(anyPath, anyPath).map(
    ([from, to]) =>
      (fs: GuardedFs) =>
        fs.rename(from, to, { overwrite: true }, alice),
  ),
)

describe('after any changes', () => {
  it('a path never exceeds its quota, and only excess changes are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 40 }), async (steps) => {
        const below = new MemoryFs()
        const fs = limited(below)
        for (const step of steps) {
          const before = await held(below, '/home/alice')
          const error = await step(fs).catch((thrown: unknown) => thrown)
          const after = await held(below, '/home/alice')
          expect(after.bytes <= 100 && after.files <= 3).toBe(true)
          if (isVfsError(error, 'ENOSPC')) expect(after).toEqual(before)
        }
        const { bytes } = await held(below, '/home/alice')
        await fs.append('/home/alice/a', 'x'.repeat(100 - bytes), alice).catch(expectTooManyFiles)
      }),
      { numRuns: 200 },
    )
  })
})

async function held(fs: FileSystem, root: string): Promise<{ bytes: number; files: number }> {
  const sizes = await Array.fromAsync(fs.walk(root), ({ stat }) => stat.size)
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length }
}

function expectTooManyFiles(error: unknown): void {
  expect(error).toMatchObject({ message: expect.stringMatching(/would hold \d+ files/) })
}
