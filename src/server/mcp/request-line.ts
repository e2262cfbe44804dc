import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** How many requests are under way at once: their answers are in memory together until the client has read them. */
const MAX_OPEN = 16
/** How much may wait in line. */
const MAX_WAITING_BYTES = MAX_MESSAGE_BYTES
/** What a message takes beside its own bytes. */
const MESSAGE_COST = 1024

interface Waiting {
  readonly request: JSONRPCRequest
  readonly cost: number
}

/** Lets a few requests be under way, until their answers have been sent; the others wait their turn. */
export class RequestLine {
  readonly #start: (request: JSONRPCRequest) => void
  readonly #open = new Set<RequestId>()
  readonly #waiting: Waiting[] = []
  #cost = 0

  constructor(start: (request: JSONRPCRequest) => void) {
    this.#start = start
  }

  /** Nothing is under way and nothing waits. */
  get isEmpty(): boolean {
    return this.#open.size + this.#waiting.length === 0
  }

  /** So much waits that nothing more should be read. */
  get isFull(): boolean {
    return this.#cost > MAX_WAITING_BYTES
  }

  /** Starts a request when it is its turn, or at once if it is urgent. */
  add(request: JSONRPCRequest, bytes: number, isUrgent: boolean): void {
    const cost = bytes + MESSAGE_COST
    this.#waiting.push({ request, cost })
    this.#cost += cost
    if (isUrgent) this.#begin(this.#waiting.length - 1)
    else this.#advance()
  }

  /** A request was answered, or will never be: it was called off. */
  finish(id: RequestId): void {
    this.#open.delete(id)
    this.#advance()
  }

  /** Takes a request out of the line that has not begun; false if it is not there. */
  drop(id: RequestId): boolean {
    const index = this.#waiting.findIndex(({ request }) => request.id === id)
    return index !== -1 && this.#take(index) !== undefined
  }

  #advance(): void {
    while (this.#open.size < MAX_OPEN && this.#waiting.length > 0) this.#begin(0)
  }

  #begin(index: number): void {
    const request = this.#take(index)
    if (request === undefined) return
    this.#open.add(request.id)
    this.#start(request)
  }

  #take(index: number): JSONRPCRequest | undefined {
    const [taken] = this.#waiting.splice(index, 1)
    this.#cost -= taken?.cost ?? 0
    return taken?.request
  }
}
