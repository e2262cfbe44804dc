import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves the repositories below a directory over local HTTP, with git's own server. */
export class GitServer implements AsyncDisposable {
  readonly url: string
  readonly #stop: () => Promise<void>

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url
    this.#stop = stop
  }

  static async start(directory: string): Promise<GitServer> {
    const server = createServer((request, response) => answer(directory, request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = addressOf(server.address())
    return new GitServer(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections()
      server.close()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop()
  }
}

export function isGitServerInstalled(): boolean {
  try {
    const place = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()
    execFileSync('test', ['-x', `${place}/git-http-backend`])
    return true
  } catch {
    return false
  }
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address === 'object' && address !== null) return address
  throw new Error('the server has no port')
}

/** Runs one request through CGI. */
function answer(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      REMOTE_USER: 'tester',
      REMOTE_ADDR: '127.0.0.1',
    },
  })
  request.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('close', () => reply(Buffer.concat(chunks), response))
}

function reply(output: Buffer, response: ServerResponse): void {
  const end = output.indexOf('\r\n\r\n')
  const headers = output.subarray(0, end).toString().split('\r\n')
  for (const header of headers) {
    const [name = '', value = ''] = header.split(': ')
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.end(output.subarray(end + 4))
}
