import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Backend } from './backend.ts'
import { VfsError } from './error.ts'
import type { Capability, Content, DirEntry, FileSystem, ReadOptions, Stat } from './file-system.ts'
import { readFile } from './helpers/file-content.ts'
import { MemoryFs } from './memory/memory-fs.ts'
import { MountTable } from './mount/mount-table.ts'
import { OverlayFs } from './overlay/overlay-fs.ts'
import { ReadOnlyFs } from './read-only-fs.ts'
import { byteStream, collect, concat, contentChunks, type RangeReader } from './streams.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A reader of bytes that come in pieces of the given sizes, over and over; a size of 0 gives an empty piece. */
function chopped(bytes: Uint8Array, sizes: readonly number[]): RangeReader {
  return async function* (start, length) {
    const range = bytes.subarray(start, start + length)
    for (let at = 0, turn = 0; at < range.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      yield range.subarray(at, at + size)
      at += size
    }
  }
}

async function texts(stream: AsyncIterable<Uint8Array>): Promise<string[]> {
  return (await Array.fromAsync(stream)).map((chunk) => decoder.decode(chunk))
}

const BLOCK = 64 * 1024
const GIBIBYTE = 1024 ** 3

/** One file of a gibibyte, `/big`, that is never in memory: it notes which blocks were made and whether it was closed. */
class VirtualFile extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'lazy'])
  readonly touched = new Set<number>()
  opened = 0
  closed = 0

  protected doStat(path: string): Stat {
    if (path !== '/' && path !== '/big') throw new VfsError('ENOENT', path, { op: 'stat' })
    const isFile = path === '/big'
    return {
      type: isFile ? 'file' : 'directory',
      size: isFile ? GIBIBYTE : 0,
      mtime: new Date(0),
      mode: null,
    }
  }

  protected async *doReaddir(): AsyncGenerator<DirEntry> {
    yield { name: 'big', type: 'file' }
  }

  protected doRead(path: string, options: ReadOptions): AsyncIterable<Uint8Array> {
    return byteStream((start, length) => this.#blocks(start, length), path, options)
  }

  async *#blocks(start: number, length: number): AsyncGenerator<Uint8Array> {
    this.opened++
    try {
      const end = Math.min(GIBIBYTE, start + length)
      for (let at = start; at < end; ) {
        const block = Math.floor(at / BLOCK)
        const stop = Math.min(end, (block + 1) * BLOCK)
        this.touched.add(block)
        // Lines of 16 bytes, the newline first in each.
        yield Uint8Array.from({ length: stop - at }, (_, index) => ((at + index) % 16 === 0 ? 10 : 97))
        at = stop
      }
    } finally {
      this.closed++
    }
  }
}

const layersOver: Readonly<Record<string, (file: VirtualFile) => FileSystem>> = {
  'the backend itself': (file) => file,
  'a read-only layer': (file) => new ReadOnlyFs(file),
  'a table in a table': (file) => new MountTable({ '/': new MountTable({ '/': file }) }),
  'an overlay': (file) => new OverlayFs(file),
}

describe('byteStream', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r\n'), maxLength: 60 })
  const sizes = fc
    .array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 5 })
    .filter((all) => all.some((size) => size > 0))
  const lineRange = fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.oneof(fc.nat({ max: 8 }), fc.constant('end' as const)))
    .map(([first, more]): readonly [number, number | 'end'] => [first, more === 'end' ? more : first + more])
  const options = fc.record(
    {
      chunkSize: fc.integer({ min: 1, max: 100 }),
      byteRange: fc.tuple(fc.nat({ max: 80 }), fc.nat({ max: 80 })),
      lineRange,
    },
    { requiredKeys: [] },
  )

  it('yields the same from bytes in memory and from a reader, for any options and chunks', async () => {
    const property = fc.asyncProperty(text, sizes, options, async (content, pieces, wanted) => {
      const bytes = encoder.encode(content)
      const inHand = await Array.fromAsync(byteStream(bytes, '/f', wanted))
      const read = await Array.fromAsync(byteStream(chopped(bytes, pieces), '/f', wanted))
      expect(read.map(String)).toEqual(inHand.map(String))
    })
    await fc.assert(property, { numRuns: 1000 })
  })

  it('accepts a huge chunk size and allocates only for the content', async () => {
    const bytes = encoder.encode('short')
    for (const chunkSize of [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      expect(await texts(byteStream(bytes, '/f', { chunkSize }))).toEqual(['short'])
      expect(await texts(byteStream(chopped(bytes, [2]), '/f', { chunkSize }))).toEqual(['short'])
    }
  })

  it('reads only the bytes of the range', () => {
    const asked: [number, number][] = []
    const reader: RangeReader = (start, length) => {
      asked.push([start, length])
      return chopped(new Uint8Array(0), [1])(start, length)
    }
    byteStream(reader, '/f', { byteRange: [7, 10] })
    byteStream(reader, '/f')
    expect(asked).toEqual([
      [7, 10],
      [0, Number.POSITIVE_INFINITY],
    ])
  })

  it('does not open a reader when the options are wrong', () => {
    const reader: RangeReader = () => {
      throw new Error('the reader was opened')
    }
    const wrong: ReadOptions[] = [
      { chunkSize: 0 },
      { chunkSize: 1.5 },
      { byteRange: [-1, 1] },
      { byteRange: [0, -1] },
      { lineRange: [0, 1] },
      { lineRange: [2, 1] },
    ]
    for (const options of wrong) {
      expect(() => byteStream(reader, '/f', options)).toThrow(
        expect.objectContaining({ code: 'EINVAL', path: '/f', op: 'read' }),
      )
    }
  })

  it('yields chunks that the receiver may change', async () => {
    const bytes = encoder.encode('abcdef')
    for await (const chunk of byteStream(bytes, '/f', { chunkSize: 2 })) chunk.fill(0)
    for await (const chunk of byteStream(chopped(bytes, [6]), '/f', { chunkSize: 6 })) chunk.fill(0)
    expect(decoder.decode(bytes)).toBe('abcdef')
  })

  it('yields chunks with separate memory: transferring one does not empty another', async () => {
    const fs = new MemoryFs({ '/a': 'first', '/b': 'second' })
    const [first, second] = [await readFile(fs, '/a'), await readFile(fs, '/b')]
    try {
      if (first.buffer instanceof ArrayBuffer) structuredClone(first.buffer, { transfer: [first.buffer] })
    } catch {
      // Refusing to be transferred is as good.
    }
    expect(decoder.decode(second)).toBe('second')
  })

  it('can be drained, left and resumed on one source', async () => {
    const stream = byteStream(encoder.encode('abcd'), '/f', { chunkSize: 1 })
    for await (const _ of stream) break
    expect(await texts(stream)).toEqual([])
  })
})

describe.each(Object.entries(layersOver))('a virtual file of 1 GiB, read through %s', (_name, layer) => {
  it('reads at most two blocks for ten bytes in the middle', async () => {
    const file = new VirtualFile()
    const middle = GIBIBYTE / 2 - 5
    const bytes = await readFile(layer(file), '/big', { byteRange: [middle, 10] })
    expect(bytes.length).toBe(10)
    expect(file.touched.size).toBeLessThanOrEqual(2)
    expect(file.closed).toBe(file.opened)
  })

  it('reads at most two blocks for ten bytes at its very end', async () => {
    const file = new VirtualFile()
    const bytes = await readFile(layer(file), '/big', { byteRange: [GIBIBYTE - 10, 1000] })
    expect(bytes.length).toBe(10)
    expect(file.touched.size).toBeLessThanOrEqual(2)
  })

  it('reads at most two blocks when the loop is left after ten bytes, and is closed', async () => {
    const file = new VirtualFile()
    for await (const chunk of layer(file).read('/big', { chunkSize: 10 })) {
      expect(chunk.length).toBe(10)
      break
    }
    expect(file.touched.size).toBeLessThanOrEqual(2)
    expect([file.opened, file.closed]).toEqual([1, 1])
  })

  it('stops and closes as soon as the last wanted line is complete', async () => {
    const file = new VirtualFile()
    expect(await texts(layer(file).read('/big', { lineRange: [2, 3] }))).toEqual([
      `${'a'.repeat(15)}\n${'a'.repeat(15)}`,
    ])
    expect(file.touched.size).toBeLessThanOrEqual(2)
    expect([file.opened, file.closed]).toEqual([1, 1])
  })

  it('is closed when its signal is aborted', async () => {
    const file = new VirtualFile()
    const controller = new AbortController()
    const read = async () => {
      for await (const _ of layer(file).read('/big', {}, { signal: controller.signal })) {
        controller.abort(new Error('enough'))
      }
    }
    await expect(read).rejects.toThrow('enough')
    expect([file.opened, file.closed]).toEqual([1, 1])
    expect(file.touched.size).toBeLessThanOrEqual(2)
  })
})

describe('collect', () => {
  it('copies bytes before it returns', () => {
    for (const size of [4, 5000]) {
      const mine = new Uint8Array(size).fill(7)
      const kept = collect(mine)
      mine.fill(0)
      expect(kept).toEqual(new Uint8Array(size).fill(7))
    }
  })

  it('copies each chunk of a stream as it arrives', async () => {
    const source = async function* () {
      const buffer = new Uint8Array(3)
      for (const value of [1, 2]) yield buffer.fill(value)
    }
    expect(await collect(source())).toEqual(Uint8Array.of(1, 1, 1, 2, 2, 2))
  })

  it('returns copies that do not overlap', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => collect(new Uint8Array(2000).fill(i))))
    all[0]?.fill(255)
    for (const [index, copy] of all.entries()) {
      if (index > 0) expect(copy.every((unit) => unit === index)).toBe(true)
    }
  })

  it('agrees with contentChunks for any content', async () => {
    const part = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array())
    const property = fc.asyncProperty(fc.array(part), async (parts) => {
      const stream = async function* () {
        yield* parts
      }
      const contents: [Content, Content][] = [
        [stream(), stream()],
        ...parts.map((one): [Content, Content] => [one, one]),
      ]
      for (const [one, same] of contents) {
        expect(concat(await Array.fromAsync(contentChunks(one)))).toEqual(await collect(same))
      }
    })
    await fc.assert(property)
  })

  it('rethrows the error of the source', async () => {
    const source = async function* () {
      yield 'half'
      throw new Error('the source broke')
    }
    await expect(collect(source())).rejects.toThrow('the source broke')
  })
})
