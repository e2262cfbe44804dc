import { describe, expect, it } from 'vitest'
import { MemoryFs, readFile } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

/** The smallest PNG: one transparent pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const LIMIT = 3_932_160

function createFile(signature: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set(Buffer.from(signature, 'latin1'))
  return bytes
}

function readImage(bytes: Uint8Array) {
  return createToolRegistry(new MemoryFs({ '/image': bytes })).call('file_read', { path: 'vfs:///image' })
}

describe('file_read of an image', () => {
  it('returns the image and a description', async () => {
    expect(await readImage(Buffer.from(PIXEL, 'base64'))).toEqual({
      text: '(image/png, 70 bytes)',
      isError: false,
      image: { mimeType: 'image/png', data: PIXEL },
    })
  })

  it.each([
    ['image/png', '\x89PNG\r\n\x1a\n\0'],
    ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
    ['image/gif', 'GIF89a\x01\0\x01\0'],
    ['image/webp', 'RIFF\x1a\0\0\0WEBPVP8L'],
  ])('recognises %s by its bytes, whatever its size', async (mimeType, signature) => {
    for (const size of [100, 300_000, LIMIT]) {
      const bytes = createFile(signature, size)
      const { image } = await readImage(bytes)
      expect(image?.mimeType).toBe(mimeType)
      expect(Buffer.from(image?.data ?? '', 'base64').equals(bytes)).toBe(true)
    }
  })

  it('refuses an image that is too large for a model', async () => {
    const result = await readImage(createFile('\x89PNG\r\n\x1a\n\0', LIMIT + 1))
    expect(result.isError).toBe(true)
    expect(result.text).toContain('an image of 3,932,161 bytes; models take up to 3,932,160')
  })

  it('refuses other binary files as before', async () => {
    for (const signature of ['\0\0\x01\0', 'RIFF\x1a\0\0\0WAVEfmt ', 'PK\x03\x04\0'])
      expect((await readImage(createFile(signature, 100))).text).toContain('a binary file, not text')
  })

  it('counts as a read: the image may be replaced', async () => {
    const files = new MemoryFs({ '/logo.png': Buffer.from(PIXEL, 'base64') })
    const tools = createToolRegistry(files)
    await tools.call('file_read', { path: 'vfs:///logo.png' })
    const replaced = await tools.call('write_file', { path: 'vfs:///logo.png', content: '<svg/>' })
    expect(replaced.isError).toBe(false)
    expect(Buffer.from(await readFile(files, '/logo.png')).toString()).toBe('<svg/>')
  })
})
