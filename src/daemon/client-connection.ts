import { once } from 'node:events'
import type { Socket } from 'node:net'
import { VfsError } from '../vfs/index.ts'
import {
  createRequestError,
  type DaemonReply,
  type DaemonRequest,
  LineReader,
  MAX_LINE_BYTES,
  parseRequest,
  toErrorJson,
} from './client/index.ts'
import type { DaemonMethod } from './daemon-service.ts'

/** Open requests of a client above which reading pauses. */
const MAX_PENDING = 256
const CLOSE_TIMEOUT_MS = 1000

/** The connection of one client. Its requests run concurrently and end with it. */
export class ClientConnection {
  readonly #socket: Socket
  readonly #methods: ReadonlyMap<string, DaemonMethod>
  readonly #left = new AbortController()
  readonly #lines = new LineReader(MAX_LINE_BYTES)
  #pending = 0

  constructor(socket: Socket, methods: ReadonlyMap<string, DaemonMethod>) {
    this.#socket = socket
    this.#methods = methods
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('drain', () => socket.resume())
    // Writing to a client that has disconnected is not an error.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#left.abort(new Error('the client has left')))
  }

  /** Closes the connection after pending data is sent, without waiting for a client that does not read. */
  end(): void {
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS).unref()
  }

  #receive(chunk: Buffer): void {
    const lines = this.#lines.add(chunk)
    if (lines === 'too long') {
      this.#send({
        id: null,
        error: createRequestError(`the request is too long; the limit is ${MAX_LINE_BYTES} bytes`).toJSON(),
      })
      this.#socket.destroySoon()
      return
    }
    for (const line of lines) this.#handleLine(line)
  }

  #handleLine(line: string): void {
    const request = parseRequest(line)
    if ('problem' in request) this.#send({ id: request.id, error: request.problem.toJSON() })
    else void this.#answer(request)
  }

  async #answer({ id, method: name, params }: DaemonRequest): Promise<void> {
    this.#pending++
    try {
      const method = this.#getMethod(name)
      if ('answer' in method) this.#send({ id, result: await method.answer(params, this.#left.signal) })
      else await this.#stream(id, method.stream(params, this.#left.signal))
    } catch (error) {
      this.#send({ id, error: toErrorJson(error) })
    } finally {
      this.#pending--
    }
  }

  #getMethod(name: string): DaemonMethod {
    if (this.#pending > MAX_PENDING) {
      const detail = `${MAX_PENDING} requests are pending, which is the limit; wait for their responses`
      throw new VfsError('EUNAVAILABLE', '/', { op: 'request', detail })
    }
    const method = this.#methods.get(name)
    if (method !== undefined) return method
    const known = [...this.#methods.keys()].join(', ')
    throw createRequestError(`there is no method ${JSON.stringify(name.slice(0, 40))}; there are: ${known}`)
  }

  /** Writes as fast as this client reads; other clients are not delayed. */
  async #stream(id: number, events: AsyncIterable<unknown>): Promise<void> {
    for await (const event of events) {
      if (this.#send({ id, event })) continue
      // The signal ends the wait when the client leaves.
      await once(this.#socket, 'drain', { signal: this.#left.signal }).catch(() => {})
      if (this.#left.signal.aborted) return
    }
    this.#send({ id, end: true })
  }

  /** False while the client reads more slowly than we write. */
  #send(reply: DaemonReply): boolean {
    if (this.#socket.destroyed || this.#socket.writableEnded) return true
    const isTaken = this.#socket.write(`${JSON.stringify(reply)}\n`)
    // Stops reading requests of a client that does not read its responses, which would accumulate.
    if (!isTaken) this.#socket.pause()
    return isTaken
  }
}
