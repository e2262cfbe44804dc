import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guard, zonePolicy } from '../../access/index.ts'
import { HostFs } from '../../backends/host/index.ts'
import { openHome } from '../../backends/vault/index.ts'
import { type FileSystem, MemoryFs, ReadOnlyFs, readText } from '../../vfs/index.ts'
import { CacheUsage, OutputCache, type OutputCacheOptions } from './index.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const LONG = 'a line of output\n'.repeat(300)

/** A cache in memory whose files and clock share one time. */
function timed(options: OutputCacheOptions = {}): {
  cache: OutputCache
  fs: MemoryFs
  clock: { now: number }
} {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const now = () => clock.now
  const fs = new MemoryFs({}, { now })
  return { cache: new OutputCache(fs, { ...options, now }), fs, clock }
}

async function idsOf(cache: OutputCache, context?: string): Promise<string[]> {
  return (await cache.list(context)).map(({ id }) => id)
}

async function keptId(cache: OutputCache, context: string, output = LONG): Promise<string> {
  return (await cache.keep(context, 'file_grep', output)).cached?.id ?? 'not kept'
}

describe('the output cache', () => {
  it('returns an output up to the threshold unchanged', async () => {
    const cache = new OutputCache(new MemoryFs())
    expect(await cache.keep('alice', 'file_grep', 'x'.repeat(4000))).toEqual({ text: 'x'.repeat(4000) })
    expect(await cache.list()).toEqual([])
  })

  it('stores a longer one completely, readable by all', async () => {
    const fs = new MemoryFs()
    const output = 'x'.repeat(4001)
    const { cached } = await new OutputCache(fs).keep('alice', 'file_grep', output)
    expect(cached).toMatchObject({ context: 'alice', tool: 'file_grep', bytes: 4001 })
    expect(cached?.id).toMatch(/^file_grep_[0-9a-f]{16}$/)
    expect(cached?.uri).toBe(`vfs:///sys/tool_cache/alice/${cached?.id}`)
    expect(await readText(fs, `/sys/tool_cache/alice/${cached?.id}`)).toBe(output)
  })

  it('returns blank output unchanged, whatever its length', async () => {
    const blank = ' \n\t'.repeat(5000)
    expect(await new OutputCache(new MemoryFs()).keep('alice', 'shell_exec', blank)).toEqual({ text: blank })
  })

  it('writes as the system, where a context may not', async () => {
    const fs = guard(new MemoryFs(), [zonePolicy()])
    const { cached } = await new OutputCache(fs).keep('alice', 'file_grep', LONG, {
      caller: { kind: 'context', context: 'alice' },
    })
    expect(await readText(fs, cached?.path ?? '')).toBe(LONG)
    await expect(
      fs.write(cached?.path ?? '', 'forged', {}, { caller: { kind: 'context', context: 'alice' } }),
    ).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('returns the whole output if it cannot be stored', async () => {
    const cache = new OutputCache(new ReadOnlyFs(new MemoryFs()))
    expect(await cache.keep('alice', 'file_grep', LONG)).toEqual({ text: LONG })
  })

  it("rejects with the signal's reason on abort", async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(
      new OutputCache(new MemoryFs()).keep('alice', 'file_grep', LONG, { signal }),
    ).rejects.toThrow('enough')
  })

  it('gives every output a unique id that is a plain name', async () => {
    const { cache } = timed()
    const names = await Promise.all(
      ['../../etc', 'a b', 'ü', 'x'.repeat(300)].map((tool) => cache.keep('bob', tool, LONG)),
    )
    for (const { cached } of names)
      expect(cached?.path).toMatch(/^\/sys\/tool_cache\/bob\/[\w-]+_[0-9a-f]{16}$/)
    for (let time = 0; time < 100; time++) await keptId(cache, 'bob')
    expect(new Set(await idsOf(cache)).size).toBe(104)
  })

  it('refuses an invalid context', async () => {
    for (const context of ['../bob', 'system', '']) {
      const cache = new OutputCache(new MemoryFs())
      await expect(cache.keep(context, 'file_grep', LONG)).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(cache.clear(context)).rejects.toMatchObject({ code: 'EINVAL' })
    }
  })

  it('stores any text exactly, however it is split', async () => {
    const piece = 64 * 1024
    const pad = fc.integer({ min: piece - 3, max: piece + 3 }).map((length) => 'x'.repeat(length))
    const text = fc
      .tuple(pad, fc.string({ unit: 'binary' }))
      .map((parts) => parts.join('') + '😀'.repeat(100))
    await fc.assert(
      fc.asyncProperty(text, async (output) => {
        const fs = new MemoryFs()
        const { cached } = await new OutputCache(fs).keep('alice', 'file_grep', output)
        expect((await readText(fs, cached?.path ?? '')) === output.toWellFormed()).toBe(true)
      }),
      { numRuns: 20 },
    )
  })
})

describe('a cached output', () => {
  it('is listed with its tool, size and time, oldest first', async () => {
    const { cache, clock } = timed()
    const first = await keptId(cache, 'alice')
    clock.now += 1000
    const second = await keptId(cache, 'bob')
    expect(await cache.list()).toMatchObject([
      {
        id: first,
        context: 'alice',
        tool: 'file_grep',
        bytes: LONG.length,
        time: new Date(clock.now - 1000),
      },
      { id: second, context: 'bob' },
    ])
    expect(await idsOf(cache, 'bob')).toEqual([second])
    expect(await idsOf(cache, 'carol')).toEqual([])
  })

  it('expires in every context when another is stored', async () => {
    const { cache, clock } = timed({ maxAgeDays: 7 })
    await keptId(cache, 'alice')
    const old = await keptId(cache, 'bob')
    clock.now += 6 * DAY_MS
    const recent = await keptId(cache, 'alice')
    expect(await idsOf(cache, 'bob')).toEqual([old])
    clock.now += 2 * DAY_MS
    const newest = await keptId(cache, 'alice')
    expect(await idsOf(cache)).toEqual([recent, newest])
  })

  it('also expires in a cache that is opened later', async () => {
    const { cache, fs, clock } = timed()
    await keptId(cache, 'alice')
    const later = new OutputCache(fs, { now: () => clock.now + 8 * DAY_MS })
    expect(await idsOf(later)).toHaveLength(1)
    const newest = await keptId(later, 'bob')
    expect(await idsOf(later)).toEqual([newest])
  })

  it('is looked for by one of the caches that share a directory and their usage', async () => {
    const fs = new MemoryFs()
    const listed: string[] = []
    const walk = fs.walk.bind(fs)
    fs.walk = (path, ...rest) => {
      listed.push(path)
      return walk(path, ...rest)
    }
    const usage = new CacheUsage()
    for (const context of ['alice', 'bob', 'carol']) await keptId(new OutputCache(fs, { usage }), context)
    expect(listed).toEqual(['/sys/tool_cache'])
  })

  it('is evicted beyond the limit, oldest of the same context first', async () => {
    const { cache, clock } = timed({ maxBytes: 3 * LONG.length })
    const other = await keptId(cache, 'bob')
    const ids: string[] = []
    for (let time = 0; time < 8; time++) {
      clock.now += 1000
      ids.push(await keptId(cache, 'alice'))
    }
    expect(await idsOf(cache, 'alice')).toEqual(ids.slice(-3))
    expect(await idsOf(cache, 'bob')).toEqual([other])
  })

  it('stays while it is the newest, even if it is too large or old', async () => {
    const { cache } = timed({ maxBytes: 1, maxAgeDays: -1 })
    const first = await keptId(cache, 'alice')
    expect(await idsOf(cache)).toEqual([first])
    const second = await keptId(cache, 'alice')
    expect(await idsOf(cache)).toEqual([second])
  })

  it('is cleared by context and by age, and counted', async () => {
    const { cache, clock } = timed()
    await keptId(cache, 'alice')
    await keptId(cache, 'bob')
    clock.now += 1000
    const recent = await keptId(cache, 'alice')
    expect(await cache.clear('alice', new Date(clock.now))).toBe(1)
    expect(await idsOf(cache, 'alice')).toEqual([recent])
    expect(await cache.clear('alice')).toBe(1)
    expect(await cache.clear()).toBe(1)
    expect(await cache.clear()).toBe(0)
  })

  it('is cleared once by two concurrent calls', async () => {
    const { cache, fs } = timed()
    for (let time = 0; time < 20; time++) await keptId(cache, 'alice')
    const [one, other] = await Promise.all([cache.clear(), new OutputCache(fs).clear()])
    expect(one + other).toBe(20)
  })

  it('is only a file that the cache wrote: others are neither listed nor cleared', async () => {
    const { cache, fs } = timed()
    await fs.write('/sys/tool_cache/README', 'x')
    await fs.write('/sys/tool_cache/alice/notes/deep_1', 'x')
    await fs.write('/sys/tool_cache/alice/plain', 'x')
    expect(await cache.clear()).toBe(0)
  })
})

describe('on every file system', () => {
  const scratch = (): string => host.mkdtempSync(join(host.realpathSync(tmpdir()), 'tool-cache-'))

  async function expectBounded(fs: FileSystem): Promise<void> {
    const cache = new OutputCache(fs, { maxBytes: 2 * LONG.length })
    for (let time = 0; time < 5; time++) await keptId(cache, 'alice')
    expect(await cache.list('alice')).toHaveLength(2)
    expect(await cache.clear()).toBe(2)
  }

  it('outputs are kept, bounded and cleared: a vault', async () => {
    await using home = await openHome({ engine: 'memory' })
    await expectBounded(await home.createVault('zones'))
  })

  it('outputs are kept, bounded and cleared: a host directory', async () => {
    const directory = scratch()
    try {
      await using fs = new HostFs(directory)
      await expectBounded(fs)
    } finally {
      host.rmSync(directory, { recursive: true })
    }
  })

  it('several caches store all outputs, and tolerate removals by each other', async () => {
    const directory = scratch()
    try {
      const caches = Array.from(
        { length: 3 },
        () => new OutputCache(new HostFs(directory), { maxBytes: 2 * LONG.length }),
      )
      const outputs = Array.from({ length: 30 }, () =>
        Promise.all(caches.map((cache) => cache.keep('alice', 'file_grep', LONG))),
      )
      for (const { cached } of (await Promise.all(outputs)).flat()) expect(cached).toBeDefined()
      await keptId(new OutputCache(new HostFs(directory), { maxBytes: 2 * LONG.length }), 'alice')
      expect(await caches[0]?.list()).toHaveLength(2)
    } finally {
      host.rmSync(directory, { recursive: true })
    }
  })
})
