import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError } from '../error.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { OverlayFs } from '../overlay/overlay-fs.ts'
import { mapReduce } from './map-reduce.ts'

function files(count: number): MemoryFs {
  return new MemoryFs(
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`/d${i % 5}/f${i}`, `${i}`])),
  )
}

/** Some turns of the event loop's microtasks, as many as asked for. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(content)).toString()
}

describe('mapReduce', () => {
  it('maps exactly as many files at once as `concurrency` allows', async () => {
    for (const concurrency of [1, 3, 8, 200]) {
      let running = 0
      let most = 0
      const map = async () => {
        most = Math.max(most, ++running)
        await turns(50)
        running--
        return 1
      }
      const total = await mapReduce(files(60), '/', map, (sum, one) => sum + one, 0, { concurrency })
      expect(total).toBe(60)
      expect(most).toBe(Math.min(60, concurrency))
    }
  })

  it('uses one worker for an invalid concurrency', async () => {
    for (const concurrency of [0, -1, Number.NaN, 0.5]) {
      const counted = mapReduce(
        files(3),
        '/',
        () => 1,
        (sum, one) => sum + one,
        0,
        { concurrency },
      )
      const outcome = await counted.catch((error: unknown) => (isVfsError(error, 'EINVAL') ? 3 : error))
      expect(outcome, `${concurrency}`).toBe(3)
    }
  })

  it('loses no update, in whatever order the maps finish', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 10 }),
      async (delays, concurrency) => {
        const map = async ({ path }: { path: string }, content: AsyncIterable<Uint8Array>) => {
          const text = await textOf(content)
          await turns(delays[Number(text)] ?? 0)
          return path
        }
        const reduce = (all: readonly string[], path: string) => [...all, path]
        const fs = files(delays.length)
        const found = await mapReduce(fs, '/', map, reduce, [], { concurrency })
        const expected = (await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)
        expect(found.toSorted()).toEqual(expected.toSorted())
      },
    )
    await fc.assert(property, { numRuns: 50 })
  })

  it('passes the entry and its content to every map, across mounts and layers', async () => {
    const table = new MountTable({ '/': files(7), '/m': new OverlayFs(new MemoryFs({ '/x': 'mounted' })) })
    const map = async (
      { path, stat }: { path: string; stat: { size: number } },
      content: AsyncIterable<Uint8Array>,
    ) => `${path} ${stat.size} ${await textOf(content)}`
    const found = await mapReduce(table, '/', map, (all, one) => all.add(one), new Set<string>())
    expect(found.has('/m/x 7 mounted')).toBe(true)
    expect(found.size).toBe(8)
  })

  it('skips links, and returns the initial value if there is no file', async () => {
    const fs = new MemoryFs({ '/f': 'x' })
    await fs.symlink('f', '/link')
    const count = (root: string) =>
      mapReduce(
        fs,
        root,
        () => 1,
        (sum, one) => sum + one,
        0,
      )
    expect(await count('/')).toBe(1)
    expect(await count('/missing')).toBe(0)
  })

  it('ends with the first failure, after the maps under way have settled', async () => {
    let running = 0
    let begun = 0
    const map = async () => {
      running++
      const mine = ++begun
      await turns(mine === 3 ? 5 : 40)
      running--
      if (mine === 3) throw new Error('the third failed')
      return 1
    }
    const reduced = mapReduce(files(100), '/', map, (sum, one) => sum + one, 0, { concurrency: 4 })
    await expect(reduced).rejects.toThrow('the third failed')
    expect(running).toBe(0)
    expect(begun).toBeLessThan(10)
  })

  it('fails when a file cannot be read or the reduction throws', async () => {
    const fs = files(5)
    const late = mapReduce(
      fs,
      '/',
      async ({ path }) => fs.remove(path).then(() => textOf(fs.read(path))),
      (a) => a,
      '',
    )
    await expect(late).rejects.toMatchObject({ code: 'ENOENT' })
    const reduce = () => {
      throw new Error('cannot reduce')
    }
    await expect(mapReduce(files(5), '/', () => 1, reduce, 0)).rejects.toThrow('cannot reduce')
  })

  it('stops walking and closes the walk when it fails', async () => {
    let closed = 0
    class Noting extends MemoryFs {
      protected override async *doWalk(root: string, options: object) {
        try {
          yield* super.doWalk(root, options)
        } finally {
          closed++
        }
      }
    }
    const fs = new Noting({ '/a': '', '/b': '', '/c': '' })
    const map = () => Promise.reject(new Error('no'))
    await expect(mapReduce(fs, '/', map, (a) => a, 0, { concurrency: 1 })).rejects.toThrow('no')
    expect(closed).toBe(1)
  })

  it('stops when its signal is aborted', async () => {
    const controller = new AbortController()
    let mapped = 0
    const map = () => {
      if (++mapped === 3) controller.abort(new Error('enough'))
    }
    const reduced = mapReduce(
      files(50),
      '/',
      map,
      (a) => a,
      0,
      { concurrency: 1 },
      { signal: controller.signal },
    )
    await expect(reduced).rejects.toThrow('enough')
    expect(mapped).toBe(3)
  })
})
