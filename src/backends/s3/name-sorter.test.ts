import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFileStat, DIRECTORY_STAT } from './list-key-pages.ts'
import { NameSorter } from './name-sorter.ts'

/** Gives keys of one directory, in their own order, and tells what comes out, and how many were held at most. */
async function ordered(keys: readonly string[], limit: number): Promise<{ names: string[]; most: number }> {
  const sorted = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  const order = new NameSorter(async (name) => keys.includes(`${name}/`), limit)
  const names: string[] = []
  let most = 0
  for (const [at, key] of sorted.entries()) {
    const isDirectory = key.endsWith('/')
    // A file hides the directory of its name, before the two come here.
    if (isDirectory && keys.includes(key.slice(0, -1))) continue
    const entry = {
      name: isDirectory ? key.slice(0, -1) : key,
      stat: isDirectory ? DIRECTORY_STAT : createFileStat(),
    }
    for (const { name, stat } of await order.push(entry)) names.push(stat.type === 'file' ? name : `${name}/`)
    most = Math.max(most, at + 1 - names.length)
  }
  for (const { name, stat } of order.flush()) names.push(stat.type === 'file' ? name : `${name}/`)
  return { names, most }
}

describe('NameSorter', () => {
  it('yields every name once and in order, for any keys and any limit', async () => {
    const part = fc.constantFrom('a', 'b', '-', '.', '0', '🎉', '\uffee', ' ')
    const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))
    const key = fc.tuple(name, fc.boolean()).map(([text, isDirectory]) => (isDirectory ? `${text}/` : text))
    const property = fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 25 }),
      fc.integer({ min: 1, max: 6 }),
      async (keys, limit) => {
        const shown = keys.filter((one) => !(one.endsWith('/') && keys.includes(one.slice(0, -1))))
        const expected = shown.sort((one, other) => (bare(one) < bare(other) ? -1 : 1))
        expect((await ordered(keys, limit)).names).toEqual(expected)
      },
    )
    const examples: [string[], number][] = [
      [['-.a.a', '-/', '-.\uffee'], 1],
      [['b/', 'b', 'b-.', 'b.a'], 1],
    ]
    await fc.assert(property, { numRuns: 500, examples })
  })

  it('holds no more names than its limit if they differ only after a dash', async () => {
    const files = Array.from({ length: 500 }, (_, at) => `part-${String(at).padStart(4, '0')}`)
    const { names, most } = await ordered([...files, 'part/'], 20)
    expect(names).toEqual(['part/', ...files])
    expect(most).toBeLessThanOrEqual(20)
  })
})

function bare(key: string): string {
  return key.endsWith('/') ? key.slice(0, -1) : key
}
