import { once } from 'node:events'
import { createServer, type Server } from 'node:http'

const MODIFIED = '2026-01-02T03:04:05.678Z'

/** Answers ListObjectsV2 as S3 documents it, of keys that need not exist anywhere; every object has 1 byte. */
export class S3ListingServer implements AsyncDisposable {
  readonly #server: Server
  readonly #pageSize: number
  #keys: readonly string[] = []
  /** How many pages were asked for. */
  pages = 0

  constructor(pageSize = 1000) {
    this.#pageSize = pageSize
    this.#server = createServer((asked, answer) => {
      const query = new URL(asked.url ?? '/', 'http://localhost').searchParams
      if (asked.method === 'HEAD') answer.writeHead(404).end()
      else answer.setHeader('content-type', 'application/xml').end(this.#page(query))
    })
  }

  /** What is listed from now on. */
  set keys(keys: readonly string[]) {
    this.#keys = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return `http://127.0.0.1:${address.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #page(query: URLSearchParams): string {
    this.pages++
    const prefix = query.get('prefix') ?? ''
    const limit = Math.min(Number(query.get('max-keys') ?? 1000), this.#pageSize)
    const files: string[] = []
    const prefixes = new Set<string>()
    let at = Number(query.get('continuation-token') ?? 0)
    for (; at < this.#keys.length; at++) {
      const key = this.#keys[at] ?? ''
      if (!key.startsWith(prefix)) continue
      const slash = query.has('delimiter') ? key.indexOf('/', prefix.length) : -1
      const isKnown = slash !== -1 && prefixes.has(key.slice(0, slash + 1))
      if (files.length + prefixes.size === limit && !isKnown) break
      if (slash === -1) files.push(key)
      else prefixes.add(key.slice(0, slash + 1))
    }
    const next = at < this.#keys.length ? `<NextContinuationToken>${at}</NextContinuationToken>` : ''
    const contents = files.map(
      (key) =>
        `<Contents><Key>${encoded(key)}</Key><LastModified>${MODIFIED}</LastModified><Size>1</Size></Contents>`,
    )
    const common = [...prefixes].map(
      (key) => `<CommonPrefixes><Prefix>${encoded(key)}</Prefix></CommonPrefixes>`,
    )
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}<EncodingType>url</EncodingType>${contents.join('')}${common.join('')}</ListBucketResult>`
  }
}

function encoded(key: string): string {
  return encodeURIComponent(key).replaceAll('%20', '+')
}

// As a process of its own: so many keys, half of them in one directory; its address is printed.
if (import.meta.main) {
  const count = Number(process.argv[2])
  const server = new S3ListingServer()
  server.keys = Array.from({ length: count }, (_, at) => {
    const name = `file-${String(at).padStart(7, '0')}.json`
    return at % 2 === 0 ? `flat/${name}` : `deep/part-${at % 100}/${name}`
  })
  console.log(await server.start())
}
