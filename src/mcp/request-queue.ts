import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/server'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** Limit of concurrent requests: their responses are in memory until the client has read them. */
const MAX_CONCURRENT = 16
/** Size of queued messages above which no more are read. */
const MAX_QUEUED_BYTES = MAX_MESSAGE_BYTES
/** Memory of a message besides its bytes. */
const MESSAGE_OVERHEAD_BYTES = 1024

interface QueuedRequest {
  readonly request: JSONRPCRequest
  readonly cost: number
}

/** Runs a few requests until their responses are sent; queues the others. */
export class RequestQueue {
  readonly #start: (request: JSONRPCRequest) => void
  readonly #running = new Set<RequestId>()
  readonly #queued: QueuedRequest[] = []
  #cost = 0

  constructor(start: (request: JSONRPCRequest) => void) {
    this.#start = start
  }

  /** True if no request is running or queued. */
  get isEmpty(): boolean {
    return this.#running.size + this.#queued.length === 0
  }

  /** True if reading should pause. */
  get isFull(): boolean {
    return this.#cost > MAX_QUEUED_BYTES
  }

  /** Queues a request, or starts it at once if it is urgent. */
  add(request: JSONRPCRequest, bytes: number, isUrgent: boolean): void {
    const cost = bytes + MESSAGE_OVERHEAD_BYTES
    this.#queued.push({ request, cost })
    this.#cost += cost
    if (isUrgent) this.#startAt(this.#queued.length - 1)
    else this.#advance()
  }

  /** Finishes a request that was answered or cancelled. */
  finish(id: RequestId): void {
    this.#running.delete(id)
    this.#advance()
  }

  /** Removes a queued request; false if it is not queued. */
  drop(id: RequestId): boolean {
    const index = this.#queued.findIndex(({ request }) => request.id === id)
    return index !== -1 && this.#removeAt(index) !== undefined
  }

  #advance(): void {
    while (this.#running.size < MAX_CONCURRENT && this.#queued.length > 0) this.#startAt(0)
  }

  #startAt(index: number): void {
    const request = this.#removeAt(index)
    if (request === undefined) return
    this.#running.add(request.id)
    this.#start(request)
  }

  #removeAt(index: number): JSONRPCRequest | undefined {
    const [taken] = this.#queued.splice(index, 1)
    this.#cost -= taken?.cost ?? 0
    return taken?.request
  }
}
