import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** How many requests are under way at once: their answers are in memory together until the client has read them. */
const MAX_CONCURRENT = 16
/** How much may wait in line. */
const MAX_WAITING_BYTES = MAX_MESSAGE_BYTES
/** What a message takes beside its own bytes. */
const MESSAGE_OVERHEAD_BYTES = 1024

interface QueuedRequest {
  readonly request: JSONRPCRequest
  readonly cost: number
}

/** Lets a few requests be under way, until their answers have been sent; the others wait their turn. */
export class RequestQueue {
  readonly #start: (request: JSONRPCRequest) => void
  readonly #open = new Set<RequestId>()
  readonly #queued: QueuedRequest[] = []
  #cost = 0

  constructor(start: (request: JSONRPCRequest) => void) {
    this.#start = start
  }

  /** Nothing is under way and nothing waits. */
  get isEmpty(): boolean {
    return this.#open.size + this.#queued.length === 0
  }

  /** So much waits that nothing more should be read. */
  get isFull(): boolean {
    return this.#cost > MAX_WAITING_BYTES
  }

  /** Starts a request when it is its turn, or at once if it is urgent. */
  add(request: JSONRPCRequest, bytes: number, isUrgent: boolean): void {
    const cost = bytes + MESSAGE_OVERHEAD_BYTES
    this.#queued.push({ request, cost })
    this.#cost += cost
    if (isUrgent) this.#startAt(this.#queued.length - 1)
    else this.#advance()
  }

  /** A request was answered, or will never be: it was called off. */
  finish(id: RequestId): void {
    this.#open.delete(id)
    this.#advance()
  }

  /** Takes a request out of the line that has not begun; false if it is not there. */
  drop(id: RequestId): boolean {
    const index = this.#queued.findIndex(({ request }) => request.id === id)
    return index !== -1 && this.#removeAt(index) !== undefined
  }

  #advance(): void {
    while (this.#open.size < MAX_CONCURRENT && this.#queued.length > 0) this.#startAt(0)
  }

  #startAt(index: number): void {
    const request = this.#removeAt(index)
    if (request === undefined) return
    this.#open.add(request.id)
    this.#start(request)
  }

  #removeAt(index: number): JSONRPCRequest | undefined {
    const [taken] = this.#queued.splice(index, 1)
    this.#cost -= taken?.cost ?? 0
    return taken?.request
  }
}
