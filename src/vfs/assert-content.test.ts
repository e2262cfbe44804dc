import { expect, it } from 'vitest'
import { MemoryFs, MountTable, OverlayFs, readText } from './index.ts'
import { contentChunks, copyBytes } from './streams.ts'

const impostors: readonly (readonly [unknown, RegExp])[] = [
  [undefined, /the content is undefined; pass a string/],
  [null, /the content is null;/],
  [5, /the content is a number;/],
  [{ total: 1 }, /the content is an object;/],
  [new ArrayBuffer(3), /the content is a value of ArrayBuffer;/],
  [Promise.resolve('text'), /the content is a value of Promise;/],
]
const loose = (value: unknown) => value as Uint8Array

it.each(impostors)('%s is not content', async (value, problem) => {
  const files = new MemoryFs({ '/a.txt': 'kept\n' })
  for (const fs of [files, new MountTable({ '/': files }), new OverlayFs(files)]) {
    const refusal = { code: 'EINVAL', path: '/a.txt', message: expect.stringMatching(problem) }
    await expect(fs.write('/a.txt', loose(value))).rejects.toMatchObject(refusal)
    expect(await readText(fs, '/a.txt')).toBe('kept\n')
  }
  await expect(files.append('/a.txt', loose(value))).rejects.toThrow(problem)
  expect(() => new MemoryFs({ '/a.txt': loose(value) })).toThrow(problem)
  // An object has no length: a copy of it once had bytes of other files.
  expect(() => copyBytes(loose(value))).toThrow(/in place of bytes/)
})

it('a stream of anything else than strings and bytes stores nothing', async () => {
  const fs = new MemoryFs({ '/a.txt': 'kept\n' })
  const stream = async function* () {
    yield 'begin'
    yield loose({ total: 1 })
  }
  await expect(fs.write('/a.txt', stream())).rejects.toThrow('content has an object in place of bytes')
  expect(await readText(fs, '/a.txt')).toBe('kept\n')
  await expect(Array.fromAsync(contentChunks(stream()))).rejects.toThrow(TypeError)
})

it('strings, bytes, buffers and streams are content', async () => {
  const fs = new MemoryFs()
  const parts = async function* () {
    yield 'a'
    yield Buffer.from('b')
  }
  for (const content of ['ab', new TextEncoder().encode('ab'), Buffer.from('ab'), parts()]) {
    await fs.write('/a.txt', content)
    expect(await readText(fs, '/a.txt')).toBe('ab')
  }
})
