import { closeSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { abandon, unmount } from './mounting/unmount.ts'

/** A vault in a directory of this machine, for as long as this process serves it. Dispose of it to unmount. */
export class VaultMount implements AsyncDisposable {
  readonly directory: string
  /** Resolves when it is unmounted, by whomever; rejects if the server failed. */
  readonly ended: Promise<void>
  readonly #atExit: () => void
  #beforeClose: () => Promise<void> = async () => {}

  constructor(directory: string, worker: Worker, fd: number) {
    this.directory = directory
    // A thread that waits for the kernel does not end with its process: only the end of the mount wakes it.
    this.#atExit = () => abandon(directory)
    process.once('exit', this.#atExit)
    this.ended = this.#end(worker, fd)
    // Whoever only disposes of it need not listen.
    this.ended.catch(() => {})
  }

  /** Has something done when the mount has ended, before its device is closed. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work
  }

  /** EUNAVAILABLE while somebody uses it. */
  async unmount(): Promise<void> {
    unmount(this.directory)
    await this.ended
  }

  /** Unmounts it, in use or not: whoever still uses it gets ENOTCONN. */
  async [Symbol.asyncDispose](): Promise<void> {
    abandon(this.directory)
    await this.ended.catch(() => {})
  }

  async #end(worker: Worker, fd: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.once('error', reject)
    try {
      await promise
    } catch (error) {
      // Nobody answers behind it any more.
      abandon(this.directory)
      throw error
    } finally {
      process.off('exit', this.#atExit)
      await this.#beforeClose()
      closeSync(fd)
    }
  }
}
