import type { Transferable, Worker } from 'node:worker_threads'

interface WaitingRequest<Answer> {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * A thread that answers each request with one message, in their order. It starts with the first request, and keeps the
 * process running only while one waits.
 */
export class AnsweringThread<Request, Answer> {
  readonly #start: () => Worker
  readonly #idleMs: number | undefined
  #worker: Worker | undefined
  /** Requests without an answer, in their order. */
  #waiting: WaitingRequest<Answer>[] = []
  #idleTimer: NodeJS.Timeout | undefined

  /** @param idleMs the thread ends after this time without work; by default, it stays */
  constructor(start: () => Worker, idleMs?: number) {
    this.#start = start
    this.#idleMs = idleMs
  }

  /** Rejects if the thread cannot be started or ends. */
  ask(request: Request, transferred: readonly Transferable[] = []): Promise<Answer> {
    clearTimeout(this.#idleTimer)
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#startWorker()
      this.#waiting.push({ resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request, transferred)
    })
  }

  /** Ends the thread. Requests that wait are rejected; another one starts a new thread. */
  end(): void {
    if (this.#worker !== undefined) this.#end(this.#worker, 'the thread was ended')
  }

  #startWorker(): Worker {
    const worker = this.#start()
    worker.on('message', (answer: Answer) => {
      this.#waiting.shift()?.resolve(answer)
      if (this.#waiting.length > 0) return
      worker.unref()
      if (this.#idleMs === undefined) return
      this.#idleTimer = setTimeout(() => this.#end(worker, 'the thread had no work'), this.#idleMs).unref()
    })
    worker.once('error', ({ message }) => this.#end(worker, message))
    worker.once('exit', () => this.#end(worker, 'the thread ended'))
    return worker
  }

  #end(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    clearTimeout(this.#idleTimer)
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(reason))
    void worker.terminate()
  }
}
