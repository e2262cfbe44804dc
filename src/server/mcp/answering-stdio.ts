import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CancelledNotificationSchema,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** A pair of streams that knows which requests are still to be answered. */
export class AnsweringStdio extends StdioServerTransport {
  readonly #open = new Set<RequestId>()
  readonly #answered = Promise.withResolvers<void>()
  #isLast = false
  /** What it could not read last; it closes itself only after that. */
  failure: Error | undefined

  constructor(input: Readable, output: Writable) {
    super(input, output, { maxBufferSize: MAX_MESSAGE_BYTES })
    this.onerror = (error) => {
      this.failure = error
    }
    // The session hangs its own listener behind this one.
    this.onmessage = (message) => {
      if (isJSONRPCRequest(message)) this.#open.add(message.id)
      const { data: cancelled } = CancelledNotificationSchema.safeParse(message)
      // A request that was called off is never answered.
      if (cancelled?.params.requestId !== undefined) this.#open.delete(cancelled.params.requestId)
    }
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return
    if (message.id !== undefined) this.#open.delete(message.id)
    this.#settle()
  }

  /** Resolves when everything is answered that came in, or was given this long. For when no more requests come. */
  async answered(patienceMs: number, signal: AbortSignal): Promise<void> {
    this.#isLast = true
    this.#settle()
    const patience = new AbortController()
    const stop = AbortSignal.any([signal, patience.signal])
    await Promise.race([
      this.#answered.promise,
      delay(patienceMs, undefined, { signal: stop }).catch(() => {}),
    ])
    patience.abort()
  }

  #settle(): void {
    if (this.#isLast && this.#open.size === 0) this.#answered.resolve()
  }
}
