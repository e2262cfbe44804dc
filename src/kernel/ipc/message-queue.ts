import { VfsError } from '../../vfs/index.ts'

/** A message from one process to another. */
export interface Message {
  /** Sequence number, unique within the kernel. */
  readonly seq: number
  readonly from: number
  readonly data: Uint8Array
}

interface Waiter {
  readonly resolve: (message: Message) => void
  readonly reject: (reason: unknown) => void
}

/** The messages of one process, in sending order. */
export class MessageQueue {
  readonly #pid: number
  readonly #messages: Message[] = []
  readonly #waiters = new Set<Waiter>()
  #isClosed = false

  constructor(pid: number) {
    this.#pid = pid
  }

  get length(): number {
    return this.#messages.length
  }

  enqueue(message: Message): void {
    if (this.#isClosed) throw this.#createClosedError()
    const [first] = this.#waiters
    if (first === undefined) {
      this.#messages.push(message)
      return
    }
    this.#waiters.delete(first)
    first.resolve(message)
  }

  /** Waits for the next message. Rejects with the signal's reason, or ENOENT when the process ends. */
  async dequeue(signal?: AbortSignal): Promise<Message> {
    signal?.throwIfAborted()
    const message = this.#messages.shift()
    if (message !== undefined) return message
    if (this.#isClosed) throw this.#createClosedError()
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    const waiter = { resolve, reject }
    const giveUp = () => {
      this.#waiters.delete(waiter)
      reject(signal?.reason)
    }
    this.#waiters.add(waiter)
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#waiters) reject(this.#createClosedError())
    this.#waiters.clear()
    this.#messages.length = 0
  }

  #createClosedError(): VfsError {
    return new VfsError('ENOENT', `/proc/${this.#pid}`, { op: 'recv', detail: 'the process has ended' })
  }
}
