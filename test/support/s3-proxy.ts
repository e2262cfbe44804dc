import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'

/** What becomes of a request on its way: handled here, or passed on if false. */
export type Meddler = (asked: IncomingMessage, answer: ServerResponse) => boolean

/** Stands before a server, remembers what is asked, and meddles where a test wants it. */
export class S3Proxy implements AsyncDisposable {
  readonly #server: Server
  readonly #target: string
  /** Method and address of each request. */
  readonly asked: string[] = []
  meddle: Meddler = () => false

  constructor(target: string) {
    this.#target = target
    this.#server = createServer((asked, answer) => this.#take(asked, answer))
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

  #take(asked: IncomingMessage, answer: ServerResponse): void {
    this.asked.push(`${asked.method} ${asked.url}`)
    if (!this.meddle(asked, answer)) this.pass(asked, answer)
  }

  /** Hands a request on. */
  pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { method, headers } = asked
    const onward = request(new URL(asked.url ?? '/', this.#target), { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    asked.pipe(onward)
  }
}

/** An answer as S3 gives it when something is wrong. */
export function refuse(answer: ServerResponse, status: number, code: string): true {
  answer.writeHead(status, { 'content-type': 'application/xml' })
  answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>because</Message></Error>`)
  return true
}
