import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'

const TOKEN = 'Hello'

/** A model behind an API on this machine, as OpenAI's. Each response is one token, and ends when `finish` is called. */
export class TokenProvider implements AsyncDisposable {
  readonly #server: Server
  #open: ServerResponse | undefined
  #sentAt = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume().on('end', () => this.#sendToken(response))
    })
  }

  static async start(): Promise<TokenProvider> {
    const provider = new TokenProvider()
    provider.#server.listen(0, '127.0.0.1')
    await once(provider.#server, 'listening')
    return provider
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    return `http://127.0.0.1:${address.port}`
  }

  /** Time of the last token, on the clock of `performance.now`. */
  get sentAt(): number {
    return this.#sentAt
  }

  finish(): void {
    this.#open?.end(`${formatChunk({}, 'stop')}data: [DONE]\n\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #sendToken(response: ServerResponse): void {
    this.#open = response
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(formatChunk({ role: 'assistant', content: TOKEN }, null))
    this.#sentAt = performance.now()
  }
}

function formatChunk(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }]
  const chunk = { id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench', choices }
  return `data: ${JSON.stringify(chunk)}\n\n`
}
