import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CancelledNotificationSchema,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js'
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
 * A client at the other end of a pair of streams, a message a line. A client that does not read its answers is not
 * given more than a few: the rest of what it asks waits, and beyond that it is no longer read.
 */
export class StdioTransport implements Transport {
  onmessage: Transport['onmessage']
  onerror: Transport['onerror']
  onclose: Transport['onclose']
  readonly #input: Readable
  readonly #output: Writable
  readonly #lines = new MessageLineReader(MAX_MESSAGE_BYTES)
  readonly #requests = new RequestQueue((request) => this.onmessage?.(request))
  readonly #allAnswered = Promise.withResolvers<void>()
  /** Resolves when the output takes more, or never will. */
  #drained: PromiseWithResolvers<void> | undefined
  /** Lines that were no messages, and whose refusals the client has not taken. */
  #pendingErrors = 0
  #hasInputEnded = false
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.once('end', this.#readRest)
    this.#output.on('drain', this.#drain)
    // Who does not take our answers is gone, whatever its other end looks like.
    this.#output.once('close', this.#closeQuietly)
    this.#output.once('error', this.#closeQuietly)
  }

  /** Resolves when the output has room for more. */
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
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#readRest)
    this.#input.pause()
    this.#output.off('drain', this.#drain)
    this.#output.off('close', this.#closeQuietly)
    this.#drain()
    this.onclose?.()
  }

  /** Resolves when everything is answered that came in, or was given this long. For when no more requests come. */
  async waitForAnswers(patienceMs: number, signal: AbortSignal): Promise<void> {
    this.#hasInputEnded = true
    this.#updateFlow()
    const patience = new AbortController()
    const stop = AbortSignal.any([signal, patience.signal])
    await Promise.race([
      this.#allAnswered.promise,
      delay(patienceMs, undefined, { signal: stop }).catch(() => {}),
    ])
    patience.abort()
  }

  readonly #read = (piece: Buffer): void => {
    for (const line of this.#lines.append(piece)) this.#receive(line)
    this.#updateFlow()
  }

  /** Who ends its side may leave out the end of the last line. */
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

  /** Only requests wait: what a request under way needs, an answer or its end, must not be behind it in the line. */
  #dispatch(message: JSONRPCMessage | undefined, size: number): void {
    if (message === undefined || this.#isClosed) return
    if (isJSONRPCRequest(message)) {
      // Who asks whether we are alive asks because others take long.
      const isUrgent = message.method === 'ping' && !this.#output.writableNeedDrain
      this.#requests.add(message, size, isUrgent)
      return
    }
    const { data: cancelled } = CancelledNotificationSchema.safeParse(message)
    const id = cancelled?.params.requestId
    if (id !== undefined && this.#requests.drop(id)) return
    this.onmessage?.(message)
    // A request that was called off is never answered.
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

  /** Of a line that was too long, whoever waits for it is told: here, if it is an answer, or else the client. */
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
    if (this.#isClosed || this.#output.write(serializeMessage(message))) return
    this.#drained ??= Promise.withResolvers()
    await this.#drained.promise
  }

  #updateFlow(): void {
    if (this.#hasInputEnded && this.#requests.isEmpty && this.#pendingErrors === 0)
      this.#allAnswered.resolve()
    const isFull = this.#requests.isFull || (this.#pendingErrors > 0 && this.#output.writableNeedDrain)
    if (this.#isClosed || isFull === this.#input.isPaused()) return
    if (isFull) this.#input.pause()
    else this.#input.resume()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
