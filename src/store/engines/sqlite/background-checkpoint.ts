import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../machine/index.ts'
import type { CheckpointWorkerData } from './checkpoint-worker.ts'
import { SharedRequests } from './shared-requests.ts'

/** Longest wait for a running checkpoint: its thread may have ended without a word. */
const MAX_WAIT_MS = 2000

/** Makes checkpoints of a store in another thread, while this one writes on. The thread starts with the first one. */
export class BackgroundCheckpoint {
  readonly #file: string
  readonly #requests = new SharedRequests()
  #thread: Worker | undefined
  #isRunning = false
  /** True if the thread could not start, as where a bundler left out its file. */
  #isBroken = false

  constructor(file: string) {
    this.#file = file
  }

  /** Begins a checkpoint, unless one is running. */
  request(): void {
    if (this.#isRunning || this.#isBroken) return
    this.#isRunning = true
    this.#thread ??= this.#start()
    this.#requests.add()
  }

  /** Returns true once after each checkpoint that has ended. */
  takeEnded(): boolean {
    if (!this.#isRunning || !this.#requests.areAnswered) return false
    this.#isRunning = false
    return true
  }

  /** Waits for a running checkpoint. No other connection can make one meanwhile. */
  wait(): void {
    if (!this.#isBroken) this.#requests.waitForAnswers(MAX_WAIT_MS)
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const workerData: CheckpointWorkerData = { file: this.#file, counts: this.#requests.counts }
    const thread = startThread(import.meta.url, 'checkpoint-worker', { workerData })
    thread.unref()
    // Then no checkpoint ends, and this thread makes them itself.
    thread.on('error', () => {
      this.#isBroken = true
    })
    return thread
  }
}
