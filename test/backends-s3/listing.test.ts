import { S3Client } from '@aws-sdk/client-s3'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { S3Fs } from '../../src/backends/s3/index.ts'
import { child, type FileSystem } from '../../src/vfs/index.ts'
import { S3ListingServer } from '../support/s3-listing-server.ts'

const server = new S3ListingServer(3)
const client = new S3Client({
  endpoint: await server.start(),
  credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  region: 'us-east-1',
  forcePathStyle: true,
})
const fs = new S3Fs({ bucket: 'bucket', client })

afterAll(async () => {
  client.destroy()
  await server[Symbol.asyncDispose]()
})

async function names(path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name, type }) =>
    type === 'directory' ? `${name}/` : name,
  )
}

async function walked(options = {}): Promise<string[]> {
  return (await Array.fromAsync(fs.walk('/', options))).map(({ path }) => path)
}

/** Walks a tree one directory at a time, for comparison. */
async function walkedByHand(tree: FileSystem, path: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name, type } of tree.readdir(path)) {
    const at = child(path, name)
    found.push(at, ...(type === 'directory' ? await walkedByHand(tree, at) : []))
  }
  return found
}

describe('a listing of irregular keys', () => {
  it('shows the file if a key is also a prefix of others', async () => {
    server.keys = ['a', 'a-b', 'a.txt', 'a.txt/c', 'a/b', 'a/c/d', 'ab', 'b/x', 'b/x/y']
    expect(await names('/')).toEqual(['a', 'a-b', 'a.txt', 'ab', 'b/'])
    expect(await walked()).toEqual(['/a', '/a-b', '/a.txt', '/ab', '/b/x'])
    expect(await names('/a')).toEqual(['b', 'c/'])
  })

  it('treats a key that ends with a slash as a directory only', async () => {
    server.keys = ['empty/', 'full/', 'full/file']
    expect(await names('/')).toEqual(['empty/', 'full/'])
    expect(await names('/empty')).toEqual([])
    expect(await names('/full')).toEqual(['file'])
    expect(await walked()).toEqual(['/full/file'])
    expect(await walked({ includeDirs: true })).toEqual(['/empty', '/full', '/full/file'])
    expect(await fs.stat('/empty')).toMatchObject({ type: 'directory' })
  })

  it('hides keys that are no path, and paths that lead elsewhere', async () => {
    const long = 'n'.repeat(256)
    server.keys = [
      '/absolute',
      '//',
      'a//b',
      'a/../up',
      'a/./here',
      '..',
      '.',
      'a/..',
      long,
      `${long}/x`,
      'a/ok',
    ]
    expect(await names('/')).toEqual(['a/'])
    expect(await names('/a')).toEqual(['ok'])
    expect(await walked({ includeDirs: true })).toEqual(['/a', '/a/ok'])
  })

  it('decodes characters that XML cannot hold', async () => {
    server.keys = ['a b', 'a+b', 'a%2Fb', 'line\nfeed', '\u0001', '🎉/<&>']
    expect(await names('/')).toEqual(['\u0001', 'a b', 'a%2Fb', 'a+b', 'line\nfeed', '🎉/'])
    expect(await names('/🎉')).toEqual(['<&>'])
  })

  it('sorts names by code units although keys are sorted by bytes', async () => {
    server.keys = ['a!', 'a-1', 'a-1/x', 'a.d/x', 'a/x', 'a0', '\uffee', '🎉', 'x\uffee', 'x🎉/y', 'x']
    expect(await names('/')).toEqual([
      'a/',
      'a!',
      'a-1',
      'a.d/',
      'a0',
      'x',
      'x🎉/',
      'x\uffee',
      '🎉',
      '\uffee',
    ])
  })

  it('yields entries before the last page, and can be left early', async () => {
    server.keys = Array.from({ length: 3000 }, (_, at) => `file${String(at).padStart(4, '0')}`)
    const before = server.pages
    for await (const { name } of fs.readdir('/')) {
      expect(name).toBe('file0000')
      break
    }
    for await (const _ of fs.walk('/')) break
    expect(server.pages - before).toBe(2)
  })

  it('is sorted, unique, and consistent with a walk, for any keys', async () => {
    const part = fc.constantFrom('a', 'b', 'a-', 'a.b', 'a0', '', '..', '🎉', '\uffee', 'a\uffee')
    const key = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const property = fc.asyncProperty(fc.uniqueArray(key, { maxLength: 14 }), async (keys) => {
      server.keys = keys.filter((one) => one !== '')
      const root = (await Array.fromAsync(fs.readdir('/'))).map(({ name }) => name)
      expect(root).toEqual([...new Set(root)].sort())
      const byHand = (await walkedByHand(fs, '/')).sort()
      expect((await walked({ includeDirs: true })).sort()).toEqual(byHand)
      expect((await walked({ includeDirs: true, maxDepth: 5 })).sort()).toEqual(byHand)
    })
    await fc.assert(property, { numRuns: 30 })
  })
})
