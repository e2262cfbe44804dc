import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Capability, Content, WriteOptions } from '../file-system.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { append, readFile, readText, tail } from './file-content.ts'
import { hash } from './hash.ts'

/** Neither appends nor hashes natively. */
class Plain extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])
}

/** The last lines of a text as `split` would give them. */
function lastLines(text: string, count: number): string {
  const lines = text.split(/(?<=\n)/)
  return count === 0 ? '' : lines.slice(-count).join('')
}

describe('tail', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '🎉', '\n', '\n', '\r\n'), maxLength: 40 })

  it('returns the same lines as splitting the whole text', async () => {
    const property = fc.asyncProperty(text, fc.nat({ max: 12 }), async (content, count) => {
      expect(await tail(new MemoryFs({ '/f': content }), '/f', count)).toBe(lastLines(content, count))
    })
    await fc.assert(property, { numRuns: 1000 })
  })

  it('returns the same lines across block borders, whatever is cut there', async () => {
    const filler = fc.tuple(fc.constantFrom('é', '🎉', 'a', '\n'), fc.integer({ min: 4000, max: 20_000 }))
    const property = fc.asyncProperty(
      text,
      filler,
      text,
      fc.nat({ max: 5 }),
      async (head, [unit, times], end, count) => {
        const content = head + unit.repeat(times) + end
        const expected = lastLines(content, count)
        expect((await tail(new MemoryFs({ '/f': content }), '/f', count)) === expected).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  it('counts an empty first line', async () => {
    const fs = new MemoryFs({ '/f': '\nlast', '/g': '\n\n', '/h': '\n' })
    expect(await tail(fs, '/f', 1)).toBe('last')
    expect(await tail(fs, '/f', 2)).toBe('\nlast')
    expect(await tail(fs, '/g', 1)).toBe('\n')
    expect(await tail(fs, '/h', 1)).toBe('\n')
  })

  it('returns ten lines by default, and nothing of an empty file', async () => {
    const content = Array.from({ length: 30 }, (_, i) => `${i}\n`).join('')
    const fs = new MemoryFs({ '/f': content, '/empty': '' })
    expect(await tail(fs, '/f')).toBe(lastLines(content, 10))
    expect(await tail(fs, '/empty')).toBe('')
  })

  it('reads the end only', async () => {
    const starts: number[] = []
    class Noting extends MemoryFs {
      protected override doRead(path: string, options: { byteRange?: readonly [number, number] }) {
        starts.push(options.byteRange?.[0] ?? 0)
        return super.doRead(path, options)
      }
    }
    const content = 'a line\n'.repeat(200_000)
    await tail(new Noting({ '/f': content }), '/f', 3)
    expect(starts.length).toBe(1)
    expect(starts[0]).toBeGreaterThan(content.length - 100_000)
  })

  it('follows a link to the end of its target', async () => {
    const fs = new MemoryFs({ '/f': `${'line\n'.repeat(100)}last\n` })
    await fs.symlink('f', '/link')
    expect(await tail(fs, '/link', 1)).toBe('last\n')
  })

  it('fails as a read does', async () => {
    const fs = new MemoryFs({ '/d/f': '' })
    await expect(tail(fs, '/missing')).rejects.toMatchObject({ code: 'ENOENT', path: '/missing' })
  })
})

describe('readFile and readText', () => {
  it('accept the options of a read', async () => {
    const fs = new MemoryFs({ '/f': 'one\ntwo\nthree\n' })
    expect(await readText(fs, '/f', { lineRange: [2, 2] })).toBe('two')
    expect(await readFile(fs, '/f', { byteRange: [1, 2] })).toEqual(Uint8Array.of(110, 101))
  })

  it('keep a byte order mark, and replace what is not UTF-8', async () => {
    const fs = new MemoryFs({ '/bom': '\ufeffx', '/bad': Uint8Array.of(0xff, 97) })
    expect(await readText(fs, '/bom')).toBe('\ufeffx')
    expect(await readText(fs, '/bad')).toBe('\ufffda')
  })

  it('return bytes that the caller owns', async () => {
    const fs = new MemoryFs({ '/f': 'abc' })
    const [mine, other] = [await readFile(fs, '/f'), await readFile(fs, '/f')]
    mine.fill(0)
    expect(Buffer.from(other).toString()).toBe('abc')
    expect(await readText(fs, '/f')).toBe('abc')
  })
})

describe('a composed append', () => {
  it('appends to the content of a concurrent writer', async () => {
    class Contended extends Plain {
      rivals = 3
      override async write(path: string, content: Content, options: WriteOptions = {}): Promise<void> {
        if (this.rivals-- > 0) await super.write(path, `rival ${this.rivals}|`)
        await super.write(path, content, options)
      }
    }
    const fs = new Contended()
    await append(fs, '/log', 'mine')
    expect(await readText(fs, '/log')).toBe('rival 0|mine')
  })

  it('stops when its signal is aborted between two attempts', async () => {
    const controller = new AbortController()
    class Busy extends Plain {
      tries = 0
      override async write(path: string, content: Content, options: WriteOptions = {}): Promise<void> {
        await super.write(path, `rival ${this.tries++}`)
        controller.abort(new Error('enough'))
        await super.write(path, content, options)
      }
    }
    const fs = new Busy()
    await expect(append(fs, '/log', 'x', { signal: controller.signal })).rejects.toThrow('enough')
    expect(fs.tries).toBe(1)
  })

  it('rethrows any error other than a conflict', async () => {
    await expect(append(new Plain({ '/d/f': '' }), '/d', 'x')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(append(new Plain({ '/f': '' }), '/f/below', 'x')).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})

describe('hash', () => {
  it('is the same composed as native', async () => {
    const content = 'x'.repeat(200_000)
    const expected = createHash('sha256').update(content).digest('hex')
    expect(await hash(new Plain({ '/f': content }), '/f')).toBe(expected)
    expect(await hash(new MemoryFs({ '/f': content }), '/f')).toBe(expected)
  })
})
