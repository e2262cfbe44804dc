import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { VfsError, type VfsErrorJson } from '../../vfs/index.ts'
import type { DaemonMethods, DaemonStreams } from './daemon-methods.ts'
import { PROTOCOL_VERSION } from './daemon-protocol.ts'
import { LineReader } from './line-reader.ts'

/** Response of a daemon of the same version, as unchecked as the result of JSON.parse. */
type UncheckedJson = ReturnType<typeof JSON.parse>

interface PendingRequest {
  result(value: UncheckedJson): void
  event(value: UncheckedJson): void
  end(): void
  fail(error: Error): void
}

/** Limit of a response, which may be longer than a request. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024
/** Unread events above which the daemon must pause. */
const MAX_QUEUED_EVENTS = 1000

/** Client of the daemon of a home. */
export class DaemonClient implements AsyncDisposable {
  readonly #socket: Socket
  readonly #pending = new Map<number, PendingRequest>()
  readonly #lines = new LineReader(MAX_ANSWER_BYTES)
  /** Resolves when the daemon has disconnected. */
  readonly closed: Promise<void>
  #lastId = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', () => socket.destroy())
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    socket.on('close', () => {
      this.#failAll(createDaemonGoneError())
      resolve()
    })
  }

  /** Connects to a daemon. EUNAVAILABLE if none listens. */
  static async connect(path: string): Promise<DaemonClient> {
    const socket = connect(path)
    try {
      await once(socket, 'connect')
    } catch (cause) {
      const detail = 'no daemon runs for this home; start one with: coppice daemon start'
      throw new VfsError('EUNAVAILABLE', path, { op: 'connect', detail, cause })
    }
    return new DaemonClient(socket)
  }

  async call<Name extends keyof DaemonMethods>(
    method: Name,
    params: DaemonMethods[Name]['params'],
    signal?: AbortSignal,
  ): Promise<DaemonMethods[Name]['result']> {
    const { promise, resolve, reject } = Promise.withResolvers<DaemonMethods[Name]['result']>()
    const id = this.#sendRequest(method, params, {
      result: resolve,
      event: () => {},
      end: () => {},
      fail: reject,
    })
    const cancel = () => reject(signal?.reason)
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    try {
      return await promise
    } finally {
      this.#pending.delete(id)
      signal?.removeEventListener('abort', cancel)
    }
  }

  /**
   * Streams events until the end or until the loop is left. To end the stream on the daemon's side early, close the
   * client.
   */
  async *stream<Name extends keyof DaemonStreams>(
    method: Name,
    params: DaemonStreams[Name]['params'],
    signal?: AbortSignal,
  ): AsyncGenerator<DaemonStreams[Name]['event']> {
    const events: DaemonStreams[Name]['event'][] = []
    let over: { readonly error?: Error } | undefined
    let wake = () => {}
    const end = (how: { readonly error?: Error }) => {
      over ??= how
      wake()
    }
    const id = this.#sendRequest(method, params, {
      result: () => end({}),
      event: (event) => {
        events.push(event)
        if (events.length > MAX_QUEUED_EVENTS) this.#socket.pause()
        wake()
      },
      end: () => end({}),
      fail: (error) => end({ error }),
    })
    const cancel = () => end({ error: signal?.reason })
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    try {
      for (;;) {
        yield* events.splice(0)
        this.#socket.resume()
        if (events.length > 0) continue
        if (over?.error !== undefined) throw over.error
        if (over !== undefined) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      this.#pending.delete(id)
      signal?.removeEventListener('abort', cancel)
      // Events that nobody reads any more must not hold up the replies to other requests.
      this.#socket.resume()
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  #sendRequest(method: string, params: unknown, waiting: PendingRequest): number {
    const id = ++this.#lastId
    this.#pending.set(id, waiting)
    if (this.#socket.destroyed) waiting.fail(createDaemonGoneError())
    else this.#socket.write(`${JSON.stringify({ v: PROTOCOL_VERSION, id, method, params })}\n`)
    return id
  }

  #receive(chunk: Buffer): void {
    const lines = this.#lines.add(chunk)
    if (lines === 'too long') this.#socket.destroy()
    else for (const line of lines) this.#dispatchReply(JSON.parse(line))
  }

  #dispatchReply(reply: UncheckedJson): void {
    const { id, error }: { id: number | null; error?: VfsErrorJson } = reply
    // The daemon could not parse a request, and does not know which.
    if (id === null) {
      if (error !== undefined) this.#failAll(VfsError.fromJSON(error))
      return
    }
    const waiting = this.#pending.get(id)
    if (error !== undefined) waiting?.fail(VfsError.fromJSON(error))
    else if ('event' in reply) waiting?.event(reply.event)
    else if ('end' in reply) waiting?.end()
    else waiting?.result(reply.result)
  }

  #failAll(error: Error): void {
    for (const { fail } of this.#pending.values()) fail(error)
    this.#pending.clear()
  }
}

function createDaemonGoneError(): VfsError {
  const detail = 'the daemon has ended before it answered'
  return new VfsError('EUNAVAILABLE', '/', { op: 'daemon', detail })
}
