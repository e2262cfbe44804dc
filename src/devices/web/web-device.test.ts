import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DeviceContext, DeviceRegistry, O_RDWR, sendDeviceRequest } from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { createEndpointSearch, type WebDeviceOptions, type WebSearchQuery, webDevice } from './index.ts'

type Answers = Readonly<Record<string, RequestListener | string>>

let http: Server
let port: number
let met: IncomingMessage[]
let answers: Answers

beforeEach(async () => {
  met = []
  answers = {}
  http = createServer((incoming, outgoing) => {
    met.push(incoming)
    const answer = answers[incoming.url ?? '']
    if (answer === undefined) outgoing.writeHead(404).end()
    else if (typeof answer === 'string') outgoing.writeHead(200, { 'content-type': 'text/html' }).end(answer)
    else answer(incoming, outgoing)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()))
  port = (http.address() as AddressInfo).port
})
afterEach(() => {
  http.closeAllConnections()
  http.close()
})

/** Names of the test's own DNS: the server, a host of the private network, and one with both addresses. */
const hosts: Readonly<Record<string, readonly string[]>> = {
  'site.example.com': ['127.0.0.1'],
  'other.example.com': ['127.0.0.1'],
  'inside.example.com': ['10.0.0.1'],
  'both.example.com': ['127.0.0.1', '169.254.169.254'],
}

function web(options: WebDeviceOptions = {}) {
  const devices = new DeviceRegistry()
  const device = webDevice({
    userAgent: 'test-agent',
    resolve: async (host) => (hosts[host] ?? []).map((address) => ({ address, family: 4 })),
    testAddresses: (address) => address === '127.0.0.1',
    ...options,
  })
  devices.register('/dev/web', device)
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
  }
  const ask = async (op: string, body: unknown, signal?: AbortSignal) =>
    JSON.parse(await sendDeviceRequest(await devices.open(`/dev/web/${op}`, O_RDWR, ctx), body, signal))
  const fetched = (path: string, more: object = {}, host = 'site.example.com') =>
    ask('web_fetch', { url: `http://${host}:${port}${path}`, ...more })
  return { ask, fetched }
}

describe('web_fetch', () => {
  it('returns a page as Markdown, with its title and URL', async () => {
    answers = {
      '/page': `<html><head><title>A &amp; B</title><style>p {}</style><script>steal()</script></head><body>
        <h1>Head</h1><p>Some <b>bold</b> <a href="/next">link</a> <a href="javascript:steal()">trap</a></p>
        <ul><li>one</li></ul><pre><code>x = 1</code></pre><noscript>track</noscript></body></html>`,
    }
    const page = await web().fetched('/page')
    expect(page).toMatchObject({
      origin: `http://site.example.com:${port}/page`,
      title: 'A & B',
      content_type: 'text/html',
    })
    expect(page.content).toBe(
      `# Head\n\nSome **bold** [link](http://site.example.com:${port}/next) trap\n\n-   one\n\n\`\`\`\nx = 1\n\`\`\``,
    )
  })

  it('returns text and JSON unchanged, and describes other types', async () => {
    answers = {
      '/data': (_, outgoing) => outgoing.setHeader('content-type', 'application/json').end('{"a": "<b>"}'),
      '/latin': (_, outgoing) =>
        outgoing.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0xe9])),
      '/image': (_, outgoing) => outgoing.setHeader('content-type', 'image/png').end('png'),
    }
    const { fetched } = web()
    expect(await fetched('/data')).toMatchObject({
      content: '{"a": "<b>"}',
      content_type: 'application/json',
    })
    expect(await fetched('/latin')).toMatchObject({ content: 'é' })
    await expect(fetched('/image')).rejects.toThrow(/ENOTSUP.*image\/png with 3 bytes/)
    await expect(fetched('/gone')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('continues a long page at an offset', async () => {
    answers = { '/long': `<p>${'abcdefghij'.repeat(10)}</p>` }
    const { fetched } = web()
    expect(await fetched('/long', { limit: 15 })).toMatchObject({
      content: 'abcdefghijabcde',
      next_offset: 15,
    })
    const rest = await fetched('/long', { offset: 95 })
    expect(rest).toMatchObject({ content: 'fghij', characters: 100 })
    expect(rest).not.toHaveProperty('next_offset')
  })

  it('splits no character at the end of a page', async () => {
    answers = { '/emoji': '<p>a😀b</p>' }
    const { fetched } = web()
    const pages = ['a', '😀', 'b']
    for (const limit of [1, 2]) {
      let offset = 0
      for (const content of pages) {
        if (limit === 2 && content === 'b') expect(offset).toBe(3)
        const page = await fetched('/emoji', { offset, limit })
        expect(page).toMatchObject({ content })
        offset = page.next_offset ?? 4
      }
      expect(offset).toBe(4)
    }
  })

  it('fetches a page once in 15 minutes', async () => {
    answers = { '/page': 'hi' }
    let time = 0
    const { fetched } = web({ now: () => time })
    const times = () => met.filter(({ url }) => url === '/page').length
    await fetched('/page')
    time += 15 * 60 * 1000 - 1
    await fetched('/page')
    expect(times()).toBe(1)
    time += 1
    await fetched('/page')
    expect(times()).toBe(2)
  })

  it('sends its user agent, but no cookie and no credentials', async () => {
    answers = {
      '/a': (_, outgoing) => outgoing.writeHead(302, { location: '/b', 'set-cookie': 'a=b' }).end(),
      '/b': 'b',
    }
    await web().fetched('/a')
    expect(met.map(({ headers }) => headers['user-agent'])).toEqual(Array(met.length).fill('test-agent'))
    expect(met.flatMap(({ headers }) => [headers.cookie, headers.authorization, headers.referer])).toEqual(
      Array(met.length * 3).fill(undefined),
    )
  })

  it('obeys robots.txt, also behind a redirect', async () => {
    answers = {
      '/robots.txt': (incoming, outgoing) =>
        outgoing.end(
          incoming.headers.host?.startsWith('other') ? 'User-agent: test-agent\nDisallow: /secret' : '',
        ),
      '/open': 'open',
      '/lead': (_, outgoing) =>
        outgoing.writeHead(302, { location: `http://other.example.com:${port}/secret/a` }).end(),
    }
    const { fetched } = web()
    expect(await fetched('/open', {}, 'other.example.com')).toMatchObject({ content: 'open' })
    await expect(fetched('/secret/a', {}, 'other.example.com')).rejects.toThrow(/EACCES.*robots/)
    await expect(fetched('/lead')).rejects.toThrow(/EACCES.*robots/)
    expect(met.filter(({ url }) => url?.startsWith('/secret'))).toEqual([])
    expect(met.filter(({ url }) => url === '/robots.txt')).toHaveLength(2)
  })

  it('fetches nothing from a site whose robots.txt fails', async () => {
    answers = { '/robots.txt': (_, outgoing) => outgoing.writeHead(503).end(), '/page': 'page' }
    await expect(web().fetched('/page')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })
})

describe('web_fetch under attack', () => {
  it.each([
    'inside.example.com',
    'both.example.com',
    '10.0.0.1',
    '[::1]',
    '169.254.169.254',
    '2130706434',
    'localhost',
  ])('does not reach %s', async (host) => {
    await expect(web().fetched('/', {}, host)).rejects.toMatchObject({ code: 'EACCES' })
    expect(met).toEqual([])
  })

  it('does not reach this machine unless allowed', async () => {
    const guarded = webDevice({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    const devices = new DeviceRegistry()
    devices.register('/dev/web', guarded)
    const ctx: DeviceContext = {
      pid: 0,
      caller: { kind: 'system' },
      fs: new MemoryFs(),
      signal: new AbortController().signal,
    }
    const file = await devices.open('/dev/web', O_RDWR, ctx)
    const body = { op: 'web_fetch', url: `http://site.example.com:${port}/` }
    await expect(sendDeviceRequest(file, body)).rejects.toMatchObject({ code: 'EACCES' })
    expect(met).toEqual([])
  })

  it('checks each redirect', async () => {
    answers = {
      '/in': (_, outgoing) => outgoing.writeHead(302, { location: 'http://inside.example.com/' }).end(),
      '/meta': (_, outgoing) => outgoing.writeHead(307, { location: 'http://169.254.169.254/latest/' }).end(),
      '/file': (_, outgoing) => outgoing.writeHead(301, { location: 'file:///etc/passwd' }).end(),
    }
    const { fetched } = web()
    await expect(fetched('/in')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(fetched('/meta')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(fetched('/file')).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('connects to the checked address, even if the name resolves elsewhere a moment later', async () => {
    answers = { '/page': 'page' }
    const judged: string[] = []
    const { fetched } = web({
      resolve: async (host) => {
        judged.push(host)
        // Once for the page and once for robots.txt, which is fetched in between.
        return [{ address: judged.length <= 2 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
      },
    })
    expect(await fetched('/page')).toMatchObject({ content: 'page' })
    expect(judged).toHaveLength(2)
  })

  it('follows at most five redirects', async () => {
    const hop =
      (to: string): RequestListener =>
      (_, outgoing) =>
        outgoing.writeHead(302, { location: to }).end()
    answers = {
      '/0': hop('/1'),
      '/1': hop('/2'),
      '/2': hop('/3'),
      '/3': hop('/4'),
      '/4': hop('/5'),
      '/5': hop('/6'),
      '/6': 'end',
    }
    const { fetched } = web()
    expect(await fetched('/1')).toMatchObject({ content: 'end', origin: `http://site.example.com:${port}/6` })
    await expect(fetched('/0')).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('stops an endless response, and one that decompresses beyond the limit', async () => {
    const zeros = Buffer.alloc(10_000_000)
    const packed =
      (encoding: string, body: Buffer): RequestListener =>
      (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding }).end(body)
      }
    answers = {
      '/endless': (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/plain' })
        const more = (): void => {
          if (!outgoing.destroyed) outgoing.write(Buffer.alloc(65_536), more)
        }
        more()
      },
      '/gzip': packed('gzip', gzipSync(zeros)),
      '/br': packed('br', brotliCompressSync(zeros)),
      '/broken': packed('gzip', Buffer.from('not gzip')),
      '/twice': packed('gzip, gzip', gzipSync(gzipSync(zeros))),
      '/small': packed('gzip', gzipSync('small')),
    }
    const { fetched } = web({ maxBytes: 100_000 })
    await expect(fetched('/endless')).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(fetched('/gzip')).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(fetched('/br')).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(fetched('/broken')).rejects.toMatchObject({ code: 'EIO' })
    await expect(fetched('/twice')).rejects.toMatchObject({ code: 'EIO' })
    expect(await fetched('/small')).toMatchObject({ content: 'small' })
  })

  it('reports a connection that breaks in the middle of a page', async () => {
    answers = {
      '/page': (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('begin')
        setImmediate(() => outgoing.destroy())
      },
      '/packed': (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        outgoing.write(gzipSync('begin').subarray(0, 12))
        setImmediate(() => outgoing.destroy())
      },
    }
    await expect(web().fetched('/page')).rejects.toThrow(/EUNAVAILABLE/)
    await expect(web().fetched('/packed')).rejects.toThrow(/EUNAVAILABLE/)
  })

  it('has one deadline for all steps, and ends with the call', async () => {
    answers = {
      '/robots.txt': (_, outgoing) => outgoing.end(''),
      '/slow': (_, outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).write('<p>'),
    }
    await expect(web({ timeoutMs: 200 }).fetched('/slow')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const unresolved = web({ timeoutMs: 50, resolve: () => new Promise(() => {}) })
    await expect(unresolved.fetched('/slow')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const end = new AbortController()
    answers = { '/slow': () => end.abort(new Error('killed')) }
    const url = `http://site.example.com:${port}/slow`
    await expect(web().ask('web_fetch', { url }, end.signal)).rejects.toThrow('killed')
  })

  it('stops parsing a page that takes forever, without blocking other work', async () => {
    answers = {
      '/deep': '<div>'.repeat(50_000),
      '/text': (_, outgoing) => outgoing.setHeader('content-type', 'text/plain').end('text'),
    }
    const { fetched } = web({ timeoutMs: 2000 })
    const ends: string[] = []
    const deep = fetched('/deep').finally(() => ends.push('deep'))
    const text = fetched('/text').finally(() => ends.push('text'))
    await expect(deep).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(await text).toMatchObject({ content: 'text' })
    expect(ends).toEqual(['text', 'deep'])
  })
})

describe('web_search', () => {
  it('explains how to configure a search', async () => {
    await expect(web().ask('web_search', { query: 'x' })).rejects.toThrow(/ENOTSUP.*endpoint/)
  })

  it('queries the endpoint, and filters its results', async () => {
    const results = [
      'https://good.example.com/a',
      'https://bad.example.com/b',
      'https://else.example.org/',
      'x',
    ].map((url) => ({ title: 'T', url, content: 'S' }))
    let asked: string | undefined
    http.removeAllListeners('request')
    http.on('request', (incoming: IncomingMessage, outgoing) => {
      asked = incoming.url
      outgoing.end(JSON.stringify({ results }))
    })
    const search = createEndpointSearch({ url: `http://127.0.0.1:${port}/search` })
    const answer = await web({ search }).ask('web_search', {
      query: 'cats & dogs',
      allowed_domains: ['example.com'],
      blocked_domains: ['bad.example.com'],
    })
    const url = 'https://good.example.com/a'
    expect(answer).toEqual({ results: [{ origin: url, title: 'T', url, snippet: 'S' }] })
    expect(new URL(asked ?? '', 'http://x').searchParams.get('q')).toBe(
      'cats & dogs site:example.com -site:bad.example.com',
    )
  })

  it('filters by domains in upper case too', async () => {
    const hits = ['https://good.example.com/', 'https://bad.example.com/'].map((url) => ({
      title: '',
      url,
      snippet: '',
    }))
    const answer = await web({ search: async () => hits }).ask('web_search', {
      query: 'x',
      allowed_domains: ['Example.COM'],
      blocked_domains: ['Bad.example.com'],
    })
    expect(answer.results).toMatchObject([{ url: 'https://good.example.com/' }])
  })

  it('reports that the endpoint does not work', async () => {
    const search = createEndpointSearch({ url: `http://127.0.0.1:${port}/none` })
    await expect(web({ search }).ask('web_search', { query: 'x' })).rejects.toThrow(/EUNAVAILABLE.*404/)
  })

  it('disconnects from an endpoint with an endless response', async () => {
    const piece = Buffer.alloc(64 * 1024, ' ')
    const hungUp = Promise.withResolvers<void>()
    http.removeAllListeners('request')
    http.on('request', (_incoming, outgoing) => {
      outgoing.once('close', hungUp.resolve)
      const send = () => {
        while (!outgoing.destroyed && outgoing.write(piece));
      }
      outgoing.on('drain', send)
      send()
    })
    const search = createEndpointSearch({ url: `http://127.0.0.1:${port}/search` })
    await expect(web({ search }).ask('web_search', { query: 'x' })).rejects.toThrow(
      /EUNAVAILABLE.*exceeds 2097152 bytes/,
    )
    await hungUp.promise
  })

  it('refuses an invalid domain before the query', async () => {
    const queries: WebSearchQuery[] = []
    const search = async (query: WebSearchQuery) => {
      queries.push(query)
      return []
    }
    const asked = web({ search }).ask('web_search', { query: 'x', allowed_domains: ['a OR b'] })
    await expect(asked).rejects.toThrow(/must be a domain/)
    expect(queries).toEqual([])
  })
})
