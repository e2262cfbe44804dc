import type { Worker } from 'node:worker_threads'
import { startThread } from '../../machine/index.ts'
import type { ChunkHashes } from './hash-chunks.ts'

/** The thread ends after this time without work. */
const IDLE_MS = 2000

/** Chunks that follow each other in memory. */
export interface HashRequest {
  readonly memory: SharedArrayBuffer
  readonly start: number
  readonly sizes: readonly number[]
}

interface WaitingRequest {
  resolve(hashes: readonly ChunkHashes[]): void
  reject(error: Error): void
}

/** Hashes chunks in a thread, which starts with the first request. It does not keep the process running. */
class HashThread {
  #worker: Worker | undefined
  /** Requests without an answer, in their order. */
  #waiting: WaitingRequest[] = []
  #idleTimer: NodeJS.Timeout | undefined

  /** Rejects if the thread cannot be started or ends. The memory must not change until the answer. */
  hash(request: HashRequest): Promise<readonly ChunkHashes[]> {
    clearTimeout(this.#idleTimer)
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start()
      this.#waiting.push({ resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request)
    })
  }

  #start(): Worker {
    const worker = startThread(import.meta.url, 'hash-worker', {})
    worker.on('message', (hashes: readonly ChunkHashes[]) => {
      this.#waiting.shift()?.resolve(hashes)
      if (this.#waiting.length > 0) return
      worker.unref()
      this.#idleTimer = setTimeout(() => this.#end(worker, 'the thread had no work'), IDLE_MS).unref()
    })
    worker.once('error', ({ message }) => this.#end(worker, message))
    worker.once('exit', () => this.#end(worker, 'the thread ended'))
    return worker
  }

  #end(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(reason))
    void worker.terminate()
  }
}

/** The thread of this process: a second one would wait for the same core. */
const thread = new HashThread()

/** Hashes chunks in a thread, while this one goes on. Rejects if there is no thread. */
export function hashInThread(request: HashRequest): Promise<readonly ChunkHashes[]> {
  return thread.hash(request)
}
