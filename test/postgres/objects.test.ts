import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Home, type HomeObjects, openHome } from '../../src/backends/vault/index.ts'
import { readFile, readText } from '../../src/vfs/index.ts'
import { largeContent } from '../support/large-content.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { refuse, S3Proxy } from '../support/s3-proxy.ts'
import { S3Server } from '../support/s3-server.ts'

const MEBIBYTE = 1024 * 1024
const SIZE = 18 * MEBIBYTE + 321

let database: PostgresServer
let s3: S3Server
let client: S3Client
let places = 0

beforeAll(async () => {
  if (!hasPostgres) return
  database = await PostgresServer.start()
  s3 = await S3Server.s3rver()
  client = s3.client()
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
})

/** A home of its own with a bucket of its own, behind a proxy. */
async function newPlace(): Promise<{
  url: string
  objects: HomeObjects
  proxy: S3Proxy
  keys(): Promise<string[]>
}> {
  const proxy = new S3Proxy(s3.endpoint)
  const endpoint = await proxy.start()
  const bucket = await s3.bucket(client)
  const keys = async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    return Contents.map(({ Key = '' }) => Key)
  }
  return {
    url: database.url(`objects_${++places}`),
    objects: { bucket, prefix: 'team/work', endpoint },
    proxy,
    keys,
  }
}

async function* streamOf(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}

async function expectContent(home: Home, path: string, content: Buffer): Promise<void> {
  expect(content.equals(await readFile(await home.vault('base'), path))).toBe(true)
}

/** Copies the database of all homes, as the restore of a dump does. */
async function copyDatabase(name: string): Promise<void> {
  const admin = new pg.Client({ host: database.directory, user: 'coppice', database: 'template1' })
  await admin.connect()
  await admin.query(`create database ${name} template postgres`)
  await admin.end()
}

const forgetAll = () => ({ keepHistory: new Date(Date.now() + 1) })

describe.skipIf(!hasPostgres)('a home in PostgreSQL with large content in S3', () => {
  it('puts large content into objects, and everybody who opens the home finds them', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    const content = largeContent('shared', SIZE)
    await using home = await openHome({ url, objects })
    const vault = await home.createVault('base')
    await vault.write('/large', streamOf(content))
    expect(await keys()).toHaveLength(3)
    for (const key of await keys()) expect(key).toMatch(/^team\/work\/home-[0-9a-f]{16}\/[0-9a-f]{32}$/)
    // The home has recorded the bucket.
    await using other = await openHome({ url })
    await expectContent(other, '/large', content)
    await (await other.vault('base')).write('/again', streamOf(content))
    expect(await keys()).toHaveLength(3)
    expect(await home.stats()).toMatchObject({ segments: { count: 3, bytes: SIZE } })
    expect(await other.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    await expect(openHome({ url, objects: { bucket: 'another' } })).rejects.toMatchObject({ code: 'EINVAL' })
    await using again = await openHome({ url, objects })
    await expectContent(again, '/large', content)
  })

  it('refuses a bucket that cannot be used, and takes the right one later', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    const wrong = openHome({ url, objects: { ...objects, bucket: 'misspelt' } })
    await expect(wrong).rejects.toThrow('correct the name')
    await using home = await openHome({ url, objects })
    await (await home.createVault('base')).write('/large', streamOf(largeContent('right', SIZE)))
    expect(await keys()).toHaveLength(3)
  })

  it('keeps apart the objects of homes that have the same bucket and prefix', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    const content = largeContent('mine', SIZE)
    await using home = await openHome({ url, objects })
    await (await home.createVault('base')).write('/large', streamOf(content))
    await using other = await openHome({ url: database.url(`objects_${++places}`), objects })
    await (await other.createVault('base')).write('/large', streamOf(largeContent('theirs', SIZE)))
    expect(await keys()).toHaveLength(6)
    for (const each of [other, home]) expect(await each.gc(forgetAll())).toMatchObject({ segments: 0 })
    await expectContent(home, '/large', content)
    for (const each of [other, home])
      expect(await each.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })

  it('leaves the objects of the original alone in a restored copy, until that claims them', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    const [first, second] = [largeContent('first', SIZE), largeContent('second', SIZE)]
    {
      await using home = await openHome({ url, objects })
      await (await home.createVault('base')).write('/first', streamOf(first))
    }
    await copyDatabase(`copy_${places}`)
    const copyUrl = url.replace('/postgres?', `/copy_${places}?`)
    await using home = await openHome({ url })
    await (await home.vault('base')).write('/second', streamOf(second))
    {
      await using copy = await openHome({ url: copyUrl, objects })
      await expectContent(copy, '/first', first)
      await (await copy.vault('base')).write('/third', streamOf(largeContent('third', SIZE)))
      await (await copy.vault('base')).remove('/first')
      expect(await copy.gc({ ...forgetAll(), packAfterMs: 0 })).toMatchObject({
        segments: 0,
        packed: { blobs: 0, problem: expect.stringContaining('--claim') },
      })
      await expectContent(copy, '/third', largeContent('third', SIZE))
      expect(await copy.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    }
    expect(await keys()).toHaveLength(6)
    await expectContent(home, '/first', first)
    await expectContent(home, '/second', second)
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })

    await using copy = await openHome({ url: copyUrl, objects: { ...objects, claim: true } })
    expect(await copy.gc({ ...forgetAll(), packAfterMs: 0 })).toMatchObject({ segments: 6 })
    await expectContent(copy, '/third', largeContent('third', SIZE))
    expect((await copy.fsck()).damaged).toEqual([])
  })

  it('reads content in order with one request for each object', async () => {
    const { url, objects, proxy } = await newPlace()
    await using _proxy = proxy
    const content = largeContent('in order', SIZE)
    await using home = await openHome({ url, objects })
    await (await home.createVault('base')).write('/large', streamOf(content))
    await using other = await openHome({ url })
    proxy.asked.length = 0
    await expectContent(other, '/large', content)
    expect(proxy.asked).toHaveLength(3)
  })

  it('asks S3 for nothing that is small', async () => {
    const { url, objects, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    const vault = await home.createVault('base')
    proxy.asked.length = 0
    proxy.meddle = (_asked, answer) => refuse(answer, 503, 'SlowDown')
    await vault.write('/small', 'text')
    await vault.write('/medium', new Uint8Array(900_000))
    await home.fork('base', 'fork')
    expect(await readText(vault, '/small')).toBe('text')
    expect(proxy.asked).toEqual([])
  })

  it('deletes objects with the collection after the last vault that has them', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    const vault = await home.createVault('base')
    await vault.write('/kept', largeContent('kept'))
    await (await home.createVault('dropped')).write('/large', streamOf(largeContent('dropped', SIZE)))
    await vault.write('/part', largeContent('kept').subarray(0, 2 * MEBIBYTE))
    await home.deleteVault('dropped')
    await vault.remove('/kept')
    // Three are deleted, and one of which little is in use is rewritten.
    expect(await home.gc(forgetAll())).toMatchObject({ segments: 4 })
    expect(await keys()).toHaveLength(1)
    await expectContent(home, '/part', largeContent('kept').subarray(0, 2 * MEBIBYTE))
    await using other = await openHome({ url })
    await expectContent(other, '/part', largeContent('kept').subarray(0, 2 * MEBIBYTE))
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })

  it('loses nothing if S3 fails, and nothing if its responses are lost', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    const vault = await home.createVault('base')
    await vault.write('/large', 'before')
    proxy.meddle = ({ method }, answer) => method === 'PUT' && refuse(answer, 403, 'AccessDenied')
    await expect(vault.write('/large', streamOf(largeContent('refused', SIZE)))).rejects.toMatchObject({
      code: 'EACCES',
    })
    expect(await readText(vault, '/large')).toBe('before')
    let lost = 0
    proxy.meddle = (asked, answer) => {
      if (asked.method !== 'PUT' || lost >= 3) return false
      lost++
      // The server stores the object; nobody hears of it.
      proxy.pass(asked, answer)
      answer.writeHead = () => answer.destroy()
      return true
    }
    await vault.write('/large', streamOf(largeContent('lost responses', SIZE)))
    expect(lost).toBe(3)
    proxy.meddle = () => false
    await expectContent(home, '/large', largeContent('lost responses', SIZE))
    await home.gc(forgetAll())
    expect(await keys()).toHaveLength(3)
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })

  it('reports objects that are missing, with their files', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await (await home.createVault('base')).write('/large', streamOf(largeContent('missing', 2 * MEBIBYTE)))
    const [key = ''] = await keys()
    proxy.meddle = ({ method }, answer) => method === 'GET' && refuse(answer, 404, 'NoSuchKey')
    await using other = await openHome({ url })
    await expect(readFile(await other.vault('base'), '/large')).rejects.toMatchObject({ code: 'EIO' })
    proxy.meddle = ({ method, url: path = '' }, answer) =>
      method === 'GET' && path.includes(key) && refuse(answer, 404, 'NoSuchKey')
    const { damaged } = await other.fsck()
    expect(damaged[0]).toMatchObject({ places: ['base:/large'] })
    expect(damaged[0]?.detail).toContain(`s3://${objects.bucket}/${key} is missing`)
  })

  it('takes a bucket that cannot be reached for no damage', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await (await home.createVault('base')).write('/large', streamOf(largeContent('away', 2 * MEBIBYTE)))
    const [key = ''] = await keys()
    proxy.meddle = ({ method, url: path = '' }, answer) => {
      if (method !== 'GET' || !path.includes(key)) return false
      answer.destroy()
      return true
    }
    await using other = await openHome({ url })
    await expect(other.fsck()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })
})

/** Small files, each of content of its own: too large for the tree, too small for objects of their own. */
function smallFiles(count: number): [string, Buffer][] {
  return Array.from({ length: count }, (_, index) => [
    `/d${index % 7}/f${index}`,
    largeContent(`small ${index}`, SMALL_BYTES + index),
  ])
}

async function writeFiles(home: Home, files: readonly [string, Buffer][]): Promise<void> {
  const vault = await home.vault('base')
  await Promise.all(files.map(([path, content]) => vault.write(path, content, { parents: true })))
}

async function expectFiles(home: Home, files: readonly [string, Buffer][]): Promise<void> {
  const vault = await home.vault('base')
  for (const [path, content] of files) expect(content.equals(await readFile(vault, path)), path).toBe(true)
}

const SMALL_BYTES = 8000
const packAll = { packAfterMs: 0 }

describe.skipIf(!hasPostgres)('cold content of a home in PostgreSQL', () => {
  it('is packed into objects by a collection, and read from there by everybody', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await home.createVault('base')
    const files = smallFiles(300)
    await writeFiles(home, files)
    const before = (await home.stats()).blobs.bytes
    expect(await home.gc()).toMatchObject({ packed: { blobs: 0 } })
    expect(await keys()).toEqual([])
    expect(await home.gc(packAll)).toMatchObject({ packed: { blobs: 300 } })
    expect(await keys()).toHaveLength(1)
    expect((await home.stats()).blobs.bytes).toBeLessThan(before / 50)
    await expectFiles(home, files)
    await using other = await openHome({ url })
    await expectFiles(other, files)
    expect(await other.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    // The same content is found by its hash, wherever it is.
    await writeFiles(
      other,
      files.map(([path, content]) => [`/copy${path}`, content]),
    )
    expect(await other.gc(packAll)).toMatchObject({ packed: { blobs: 0 } })
    await expectFiles(home, files)
  })

  it('stays in rows until there is enough of it, and leaves with its files', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    const vault = await home.createVault('base')
    const files = smallFiles(200)
    await writeFiles(home, files.slice(0, 50))
    expect(await home.gc(packAll)).toMatchObject({ packed: { blobs: 0 } })
    await writeFiles(home, files.slice(50))
    expect(await home.gc(packAll)).toMatchObject({ packed: { blobs: 200 } })
    // Of an object of which little is left, the rest is moved to another one.
    for (const [path] of files.slice(10)) await vault.remove(path)
    expect(await home.gc({ ...packAll, ...forgetAll() })).toMatchObject({ segments: 1, packed: { blobs: 0 } })
    await expectFiles(home, files.slice(0, 10))
    for (const [path] of files.slice(0, 10)) await vault.remove(path)
    await home.gc(forgetAll())
    expect(await keys()).toEqual([])
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })

  it('stays in rows if the object store fails, and is packed by the next collection', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await home.createVault('base')
    const files = smallFiles(200)
    await writeFiles(home, files)
    for (const [status, code] of [
      [507, 'InsufficientStorage'],
      [403, 'AccessDenied'],
    ] as const) {
      proxy.meddle = ({ method }, answer) => method === 'PUT' && refuse(answer, status, code)
      const { packed } = await home.gc(packAll)
      expect(packed).toEqual({ blobs: 0, bytes: 0, problem: expect.stringContaining('because') })
    }
    proxy.meddle = () => false
    await expectFiles(home, files)
    expect(await home.gc(packAll)).toMatchObject({ packed: { blobs: 200 } })
    expect(await keys()).toHaveLength(1)
    await expectFiles(home, files)
  })

  it('is packed by one process at a time: of two, the second goes on', async () => {
    const { url, objects, keys, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await using other = await openHome({ url })
    await home.createVault('base')
    const files = smallFiles(200)
    await writeFiles(home, files)
    let second: ReturnType<Home['gc']> | undefined
    proxy.meddle = (asked, answer) => {
      if (asked.method !== 'PUT' || second !== undefined) return false
      second = other.gc(packAll)
      second.finally(() => proxy.pass(asked, answer))
      return true
    }
    const first = await home.gc(packAll)
    expect([first.packed.blobs, (await second)?.packed.blobs]).toEqual([0, 200])
    await expectFiles(home, files)
    await expectFiles(other, files)
    // What the first one stored in vain goes with the next collection.
    await home.gc()
    expect(await keys()).toHaveLength(1)
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })

  it('is read while it is packed, and written beside that', async () => {
    const { url, objects, proxy } = await newPlace()
    await using _proxy = proxy
    await using home = await openHome({ url, objects })
    await using other = await openHome({ url })
    await home.createVault('base')
    const files = smallFiles(400)
    for (let part = 0; part < 4; part++) {
      const known = files.slice(0, part * 100)
      await Promise.all([
        writeFiles(other, files.slice(part * 100, part * 100 + 100)),
        expectFiles(other, known),
        home.gc(packAll),
      ])
    }
    await home.gc(packAll)
    await expectFiles(other, files)
    await using third = await openHome({ url })
    await expectFiles(third, files)
    expect(await third.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
  })
})
