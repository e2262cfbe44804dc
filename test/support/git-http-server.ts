import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { basename, dirname } from 'node:path'

/** A repository served on loopback by Git's own CGI program. */
export class GitHttpServer implements AsyncDisposable {
  readonly #server: Server
  readonly #root: string
  readonly #name: string
  /** Every request for objects. */
  fetches = 0
  authorization: string | undefined

  constructor(repository: string) {
    this.#root = dirname(repository)
    this.#name = basename(repository)
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return `http://127.0.0.1:${address.port}/${this.#name}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'POST') this.fetches++
    this.authorization = request.headers.authorization
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    })
    child.stdin.on('error', () => {})
    request.pipe(child.stdin)
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.once('close', () => this.#respond(response, Buffer.concat(chunks)))
  }

  #respond(response: ServerResponse, output: Buffer): void {
    const border = output.indexOf('\r\n\r\n')
    const headers = output.subarray(0, border).toString().split('\r\n')
    for (const header of headers) {
      const [name = '', value = ''] = header.split(': ')
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else if (name !== '') response.setHeader(name, value)
    }
    response.end(output.subarray(border + 4))
  }
}
