import { createHash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { S3Fs } from '../../src/backends/s3/index.ts'
import { hash, list, readText } from '../../src/vfs/index.ts'
import { refuse, S3Proxy } from '../support/s3-proxy.ts'
import { S3Server } from '../support/s3-server.ts'

const MIB = 1024 * 1024
const PART = 5 * MIB

const server = await S3Server.s3rver()
const proxy = new S3Proxy(server.endpoint)
const endpoint = await proxy.start()
const client = server.client(endpoint)
/** Options of the file system's own client. */
const options = {
  endpoint,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  maxAttempts: 1,
}
const bucket = await server.bucket(client)
let roots = 0
let fs: S3Fs

beforeEach(() => {
  fs = new S3Fs({ bucket, prefix: `root-${++roots}`, client, partSize: PART })
  proxy.meddle = () => false
  proxy.asked.length = 0
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

/** Yields mebibytes, each of another letter. */
async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(MIB)
  for (let at = 0; at < count; at++) yield buffer.fill(97 + at)
}

async function names(path: string): Promise<string[]> {
  return (await list(fs, path)).map(({ name }) => name)
}

function asked(pattern: RegExp): string[] {
  return proxy.asked.filter((line) => pattern.test(line))
}

describe('a large file', () => {
  it('is sent in parts, whatever its chunks, and arrives complete', async () => {
    await fs.write('/large', mebibytes(12))
    const expected = createHash('sha256')
    for await (const chunk of mebibytes(12)) expected.update(chunk)
    expect(await hash(fs, '/large')).toBe(expected.digest('hex'))
    expect(asked(/^PUT .*partNumber=/)).toHaveLength(3)
    expect(asked(/^DELETE/)).toEqual([])
  })

  it('is discarded completely when its source fails', async () => {
    const broken = async function* () {
      yield* mebibytes(11)
      throw new Error('the source broke')
    }
    await expect(fs.write('/large', broken())).rejects.toThrow('the source broke')
    expect(asked(/^DELETE .*uploadId=/)).toHaveLength(1)
    expect(await fs.exists('/large')).toBe(false)
  })

  it.each([
    ['a part', (line: string) => /partNumber=2/.test(line), 403, 'AccessDenied', 'EACCES'],
    ['the end', (line: string) => /^POST .*uploadId=/.test(line), 412, 'PreconditionFailed', 'ECONFLICT'],
  ])('is discarded completely when %s is refused', async (_, isRefused, status, code, expected) => {
    proxy.meddle = ({ method, url }, answer) => isRefused(`${method} ${url}`) && refuse(answer, status, code)
    await expect(fs.write('/large', mebibytes(12))).rejects.toMatchObject({ code: expected, path: '/large' })
    expect(asked(/^DELETE .*uploadId=/)).toHaveLength(1)
    expect(await fs.exists('/large')).toBe(false)
  })

  it('is discarded completely when its write is aborted', async () => {
    const controller = new AbortController()
    const source = async function* () {
      yield* mebibytes(11)
      controller.abort(new Error('no longer wanted'))
      yield* mebibytes(5)
    }
    await expect(fs.write('/large', source(), {}, { signal: controller.signal })).rejects.toThrow(
      'no longer wanted',
    )
    expect(asked(/^DELETE .*uploadId=/)).toHaveLength(1)
    expect(await fs.exists('/large')).toBe(false)
  })

  it('requires a valid part size', () => {
    const open = () => new S3Fs({ bucket, client, partSize: 1000 })
    expect(open).toThrow(expect.objectContaining({ code: 'EINVAL', message: expect.stringMatching(/5 MiB/) }))
  })
})

describe('requests', () => {
  it('fetch only the requested bytes', async () => {
    await fs.write('/file', '0123456789')
    const ranges: unknown[] = []
    proxy.meddle = ({ method, headers }) => {
      if (method === 'GET') ranges.push(headers.range)
      return false
    }
    expect(await readText(fs, '/file', { byteRange: [2, 3] })).toBe('234')
    expect(await readText(fs, '/file', { byteRange: [8, 100] })).toBe('89')
    expect(ranges).toEqual(['bytes=2-4', 'bytes=8-107'])
  })

  it('carry the condition of a conditional write', async () => {
    const conditions: unknown[] = []
    proxy.meddle = ({ method, headers }) => {
      if (method === 'PUT') conditions.push([headers['if-none-match'], headers['if-match']])
      return false
    }
    await fs.write('/file', 'one', { ifMatch: null })
    await fs.write('/file', 'two', { ifMatch: await hash(fs, '/file') })
    const md5 = createHash('md5').update('one').digest('hex')
    expect(conditions).toEqual([
      ['*', undefined],
      [undefined, md5],
    ])
  })

  it('delete a directory in batches of a thousand, or one by one without batch support', async () => {
    for (const path of ['/d/1', '/d/2', '/d/e/3', '/dx']) await fs.write(path, path)
    const attempts: unknown[] = []
    proxy.meddle = ({ method, headers }) => {
      if (method === 'POST') attempts.push(headers['amz-sdk-request'])
      return false
    }
    await fs.remove('/d', { recursive: true })
    // s3rver may fail concurrent requests, which are then retried.
    expect(attempts.filter((attempt) => /\battempt=1\b/.test(String(attempt)))).toHaveLength(1)
    expect(asked(/^DELETE/)).toEqual([])
    expect(await names('/')).toEqual(['dx'])

    for (const path of ['/d/1', '/d/2']) await fs.write(path, path)
    proxy.meddle = ({ method }, answer) => method === 'POST' && refuse(answer, 501, 'NotImplemented')
    await fs.remove('/d', { recursive: true })
    expect(new Set(asked(/^DELETE/)).size).toBe(2)
    expect(await names('/')).toEqual(['dx'])
  })

  it('are not sent for a key that is too long', async () => {
    const path = `/${'directory/'.repeat(110)}file`
    await expect(fs.write(path, 'x')).rejects.toMatchObject({ code: 'ENAMETOOLONG', path })
    await fs.write('/file', 'x')
    proxy.asked.length = 0
    await expect(fs.rename('/file', path)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(asked(/^(?:PUT|DELETE)/)).toEqual([])
  })
})

describe('a rename', () => {
  it('that fails removes its copies and keeps the source', async () => {
    for (const path of ['/old/1', '/old/2', '/old/3']) await fs.write(path, path)
    proxy.meddle = ({ method, url }, answer) =>
      method === 'PUT' && /new\/2/.test(url ?? '') && refuse(answer, 403, 'AccessDenied')
    await expect(fs.rename('/old', '/new')).rejects.toMatchObject({ code: 'EACCES' })
    expect(await names('/old')).toEqual(['1', '2', '3'])
    expect(await fs.exists('/new')).toBe(false)
  })
})

describe('a failure', () => {
  it.each([
    [403, 'AccessDenied', 'EACCES', /s3:ListBucket/],
    [500, 'InternalError', 'EIO', /because/],
    [503, 'SlowDown', 'EUNAVAILABLE', /try again later/],
    [507, 'InsufficientStorage', 'ENOSPC', /because/],
    [404, 'NoSuchBucket', 'EIO', /create it, or correct the name/],
  ])('with status %i %s is %s and says what to do', async (status, name, code, message) => {
    proxy.meddle = (_, answer) => refuse(answer, status, name)
    await using refused = new S3Fs({ bucket, client: options })
    await expect(list(refused, '/some')).rejects.toMatchObject({
      code,
      path: '/some',
      message: expect.stringMatching(message),
    })
  })

  it('that is transient is retried', async () => {
    let failures = 1
    proxy.meddle = (_, answer) => failures-- > 0 && refuse(answer, 503, 'SlowDown')
    expect(await fs.exists('/missing')).toBe(false)
  })

  it('to connect is EUNAVAILABLE, also for exists', async () => {
    const nobody = new S3Fs({ bucket, client: { ...options, endpoint: 'http://127.0.0.1:9' } })
    await expect(nobody.exists('/x')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await nobody[Symbol.asyncDispose]()
  })

  it('of a missing bucket does not look like an empty one', async () => {
    const missing = new S3Fs({ bucket: 'no-such-bucket', client })
    await expect(Array.fromAsync(missing.walk('/'))).rejects.toMatchObject({ code: 'EIO' })
    await expect(missing.exists('/x')).rejects.toMatchObject({ code: 'EIO' })
  })

  it('in the middle of a file is reported, not taken for its end', async () => {
    await fs.write('/file', 'x'.repeat(1000))
    proxy.meddle = ({ method, url }, answer) => {
      if (method !== 'GET' || url?.includes('list-type')) return false
      answer.writeHead(200, { 'content-length': '1000' })
      answer.write('x'.repeat(500), () => answer.destroy())
      return true
    }
    await expect(readText(fs, '/file')).rejects.toMatchObject({ code: 'EUNAVAILABLE', path: '/file' })
  })

  it('to continue ends with the signal of the read', async () => {
    await fs.write('/file', 'x'.repeat(1000))
    const controller = new AbortController()
    proxy.meddle = ({ method }, answer) => {
      if (method !== 'GET') return false
      answer.writeHead(200, { 'content-length': '1000' })
      answer.write('x'.repeat(500), () => setImmediate(() => controller.abort(new Error('enough'))))
      return true
    }
    await expect(readText(fs, '/file', {}, { signal: controller.signal })).rejects.toThrow('enough')
  })

  it("to answer is ETIMEDOUT after the client's timeout", async () => {
    proxy.meddle = () => true
    const requestHandler = { socketTimeout: 50 }
    await using hasty = new S3Fs({ bucket, client: { ...options, requestHandler } })
    await expect(hasty.stat('/x')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('to answer is tried twice, not as often as a refusal, and then not again for a while', async () => {
    proxy.meddle = () => true
    const client = { ...options, maxAttempts: 5, requestHandler: { socketTimeout: 50 } }
    await using hasty = new S3Fs({ bucket, client })
    proxy.asked.length = 0
    for (const path of ['/x', '/y']) {
      await expect(hasty.stat(path)).rejects.toMatchObject({
        code: 'ETIMEDOUT',
        message: expect.stringContaining(`the S3 server ${options.endpoint} of bucket '${bucket}'`),
      })
    }
    expect(proxy.asked).toHaveLength(2)
  })
})
