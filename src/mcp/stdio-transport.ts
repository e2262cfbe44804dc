import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import {
  deserializeMessage,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isSpecType,
  type JSONRPCMessage,
  type RequestId,
  type SubscriptionFilter,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import { MAX_MESSAGE_BYTES } from './limits.ts'
import {
  createErrorResponses,
  createTruncatedError,
  isTruncatedResponse,
  toFailedResponse,
} from './malformed-message.ts'
import { MessageLineReader, type TruncatedLine } from './message-line-reader.ts'
import { RequestQueue } from './request-queue.ts'

/**
 * Exchanges messages with a client over a pair of streams, one on each line. If the client does not read its responses,
 * only a few requests run: further ones are queued, and then the input is paused.
 */
export class StdioTransport implements Transport {
  onmessage: Transport['onmessage']
  onerror: Transport['onerror']
  onclose: Transport['onclose']
  /** Called for a stream of notifications that the client opens. */
  onlisten: ((id: RequestId, filter: SubscriptionFilter) => void) | undefined
  /** Called for a request that the client cancels, unless it is still queued. */
  oncancel: ((id: RequestId) => void) | undefined
  readonly #input: Readable
  readonly #output: Writable
  readonly #lines = new MessageLineReader(MAX_MESSAGE_BYTES)
  readonly #requests = new RequestQueue((request) => this.onmessage?.(request))
  readonly #allAnswered = Promise.withResolvers<void>()
  /** Resolves once the output drains or closes. */
  #drained: PromiseWithResolvers<void> | undefined
  /** Malformed lines whose errors the client has not read. */
  #pendingErrors = 0
  #hasInputEnded = false
  readonly #closed = new AbortController()

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  /** Aborted once the transport is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.once('end', this.#readRest)
    this.#output.on('drain', this.#drain)
    // A client that closed our output is gone, even if its input is open.
    this.#output.once('close', this.#closeQuietly)
    this.#output.once('error', this.#closeQuietly)
  }

  /** Sends a message; resolves once the output has room for more. */
  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#write(message)
    } finally {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
      if (isAnswer && message.id !== undefined) this.#requests.finish(message.id)
      this.#updateFlow()
    }
  }

  async close(): Promise<void> {
    if (this.closed.aborted) return
    this.#closed.abort()
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#readRest)
    this.#input.pause()
    this.#output.off('drain', this.#drain)
    this.#output.off('close', this.#closeQuietly)
    this.#drain()
    this.onclose?.()
  }

  /**
   * Resolves once all requests are answered, after this time, or when the signal aborts. For use after the end of
   * input.
   */
  async waitForAnswers(timeoutMs: number, signal: AbortSignal): Promise<void> {
    this.#hasInputEnded = true
    this.#updateFlow()
    const answered = new AbortController()
    const stop = AbortSignal.any([signal, answered.signal])
    await Promise.race([
      this.#allAnswered.promise,
      delay(timeoutMs, undefined, { signal: stop }).catch(() => {}),
    ])
    answered.abort()
  }

  readonly #read = (piece: Buffer): void => {
    for (const line of this.#lines.append(piece)) this.#receive(line)
    this.#updateFlow()
  }

  /** Receives the last line, which may lack its newline. */
  readonly #readRest = (): void => {
    const rest = this.#lines.takeRest()
    if (rest !== undefined) this.#receive(rest)
  }

  readonly #drain = (): void => {
    this.#drained?.resolve()
    this.#drained = undefined
  }

  readonly #closeQuietly = (): void => {
    this.close().catch(() => {})
  }

  #receive(line: string | TruncatedLine): void {
    if (typeof line === 'string') this.#dispatch(this.#parseMessage(line), line.length)
    else this.#dispatch(this.#handleTruncated(line), 0)
  }

  /**
   * Passes a message on, or queues a request: responses and cancellations that a running request needs must not wait.
   */
  #dispatch(message: JSONRPCMessage | undefined, size: number): void {
    if (message === undefined || this.closed.aborted) return
    if (isJSONRPCRequest(message)) {
      if (isSpecType.SubscriptionsListenRequest(message)) {
        // Not queued: the response comes when the subscription ends, and other requests must run meanwhile.
        this.onlisten?.(message.id, message.params.notifications)
        this.onmessage?.(message)
        return
      }
      // A ping overtakes other requests: a client sends it because they take long.
      const isUrgent = message.method === 'ping' && !this.#output.writableNeedDrain
      this.#requests.add(message, size, isUrgent)
      return
    }
    const id = isSpecType.CancelledNotification(message) ? message.params.requestId : undefined
    if (id !== undefined && this.#requests.drop(id)) return
    if (id !== undefined) this.oncancel?.(id)
    this.onmessage?.(message)
    // A cancelled request is never answered.
    if (id !== undefined) this.#requests.finish(id)
  }

  #parseMessage(line: string): JSONRPCMessage | undefined {
    if (line.trim() === '') return undefined
    try {
      return deserializeMessage(line)
    } catch (error) {
      this.onerror?.(toError(error))
      this.#sendErrors(createErrorResponses(line))
      return toFailedResponse(line)
    }
  }

  /**
   * Returns the failure of our own request if a line beyond the limit is a response; otherwise sends the client an
   * error.
   */
  #handleTruncated(line: TruncatedLine): JSONRPCMessage | undefined {
    const refusal = createTruncatedError(line)
    if (isTruncatedResponse(line)) return refusal
    this.#sendErrors([refusal])
    return undefined
  }

  #sendErrors(refusals: readonly JSONRPCMessage[]): void {
    this.#pendingErrors++
    void Promise.all(refusals.map((refusal) => this.#write(refusal))).then(() => {
      this.#pendingErrors--
      this.#updateFlow()
    })
  }

  async #write(message: JSONRPCMessage): Promise<void> {
    if (this.closed.aborted || this.#output.write(serializeMessage(message))) return
    this.#drained ??= Promise.withResolvers()
    await this.#drained.promise
  }

  #updateFlow(): void {
    if (this.#hasInputEnded && this.#requests.isEmpty && this.#pendingErrors === 0)
      this.#allAnswered.resolve()
    const isFull = this.#requests.isFull || (this.#pendingErrors > 0 && this.#output.writableNeedDrain)
    if (this.closed.aborted || isFull === this.#input.isPaused()) return
    if (isFull) this.#input.pause()
    else this.#input.resume()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
