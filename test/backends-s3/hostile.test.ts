import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { S3Client } from '@aws-sdk/client-s3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { S3Fs } from '../../src/backends/s3/index.ts'

const MIB = 1024 ** 2

interface Page {
  readonly keys?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly next?: string
  readonly isTruncated?: boolean
}

function page({ keys = [], prefixes = [], next, isTruncated = next !== undefined }: Page): string {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
  const common = prefixes.map((key) => `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`)
  const token = next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${token}<EncodingType>url</EncodingType>${contents.join('')}${common.join('')}</ListBucketResult>`
}

type Answer = (query: URLSearchParams, response: ServerResponse) => string | undefined

/** Opens a bucket of a server with these responses. */
async function bucketOf(answer: Answer, prefix = ''): Promise<S3Fs> {
  const server = createServer((asked, response) => {
    const text = answer(new URL(asked.url ?? '/', 'http://localhost').searchParams, response)
    if (text !== undefined) response.setHeader('content-type', 'application/xml').end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
  })
  onTestFinished(() => {
    client.destroy()
    server.closeAllConnections()
    server.close()
  })
  return new S3Fs({ bucket: 'bucket', client, prefix })
}

const counted = () => {
  let count = 0
  return () => String(count++)
}

describe('a hostile S3 server', () => {
  const [number, turn] = [counted(), counted()]

  it.each<[string, Answer, RegExp]>([
    ['gives the same token again', () => page({ keys: ['a'], next: 'x' }), /repeats a page/],
    ['goes round in circles', () => page({ keys: ['a', 'b'], next: number() }), /repeats earlier keys/],
    ['repeats one key without end', () => page({ keys: ['a'], next: number() }), /repeats earlier keys/],
    [
      'goes back and forth',
      () => page({ keys: [Number(turn()) % 2 === 0 ? 'a' : 'b'], next: number() }),
      /repeats earlier keys/,
    ],
    ['has empty pages without end', () => page({ next: number() }), /more than 100 empty pages/],
    [
      'has more and does not say where',
      () => page({ keys: ['a'], isTruncated: true }),
      /has no continuation token/,
    ],
    ['encodes keys wrongly', () => page({ keys: ['%E0%A4%A'] }), /not URL-encoded/],
  ])('that %s is refused, by readdir and walk', async (_, answer, problem) => {
    const fs = await bucketOf(answer)
    for (const listing of [() => fs.readdir('/'), () => fs.walk('/'), () => fs.walk('/', { maxDepth: 1 })]) {
      const all = Array.fromAsync<unknown>(listing())
      await expect(all).rejects.toMatchObject({ code: 'EIO', message: expect.stringMatching(problem) })
    }
  })

  it('cannot add keys that were not requested', async () => {
    const fs = await bucketOf(() => page({ keys: ['other/secret'] }), 'team')
    for (const listing of [fs.readdir('/'), fs.walk('/')]) {
      await expect(Array.fromAsync<unknown>(listing)).rejects.toMatchObject({
        code: 'EIO',
        message: expect.stringContaining('keys outside the requested prefix'),
      })
    }
  })

  it('cannot lead elsewhere by the names it lists', async () => {
    const keys = ['../x', './y', '/etc/passwd', 'a/../../z', 'a//b', 'ok', 'p%00q']
    const flat = await bucketOf((query) =>
      page(
        query.has('delimiter') ? { keys: ['..', '.', 'ok'].toSorted(), prefixes: ['../', './'] } : { keys },
      ),
    )
    expect(await Array.fromAsync(flat.readdir('/'), ({ name }) => name)).toEqual(['ok'])
    const walked = await Array.fromAsync(flat.walk('/', { includeDirs: true }), ({ path }) => path)
    expect(walked.filter((path) => path !== '/a')).toEqual(['/ok'])
  })

  it.each<[string, number, (fs: S3Fs) => AsyncIterable<unknown>]>([
    ['a listing', 200, (fs) => fs.readdir('/')],
    ['a failure', 500, (fs) => fs.readdir('/')],
    ['a failure to read', 500, (fs) => fs.read('/file')],
  ])('cannot fill the memory with %s of 300 MB', async (_, status, ask) => {
    let sent = 0
    const fs = await bucketOf((_query, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' })
      const line = Buffer.from(`<Contents><Key>${'k'.repeat(1000)}</Key></Contents>`.repeat(64))
      const flood = function* () {
        yield '<ListBucketResult>'
        for (; sent < 300 * MIB; sent += line.length) yield line
      }
      Readable.from(flood()).pipe(response)
      return undefined
    })
    await expect(Array.fromAsync(ask(fs))).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining('more than 16 MiB'),
    })
    expect(sent).toBeLessThan(64 * MIB)
  })
  it('has its objects read whole, however large they are', async () => {
    const fs = await bucketOf((_query, response) => {
      response.setHeader('content-length', 20 * MIB).end(Buffer.alloc(20 * MIB))
      return undefined
    })
    let read = 0
    for await (const chunk of fs.read('/file')) read += chunk.length
    expect(read).toBe(20 * MIB)
  })
})
