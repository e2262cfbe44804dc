import { closeSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { endConnection, guardConnection } from './mounting/connection-guard.ts'
import { findOwnMount, type MountEntry } from './mounting/mount-list.ts'
import { forceUnmount, isRoot, pokeServer, unmount } from './mounting/unmount.ts'

/** A file system in a directory of this machine, for as long as this process serves it. Dispose of it to unmount. */
export class FuseMount implements AsyncDisposable {
  readonly directory: string
  /** Resolves when it is unmounted, by whomever; rejects if the server failed. */
  readonly ended: Promise<void>
  readonly #entry: MountEntry | undefined
  readonly #ending: Int32Array
  readonly #atExit: () => void
  readonly #guard: Disposable | undefined
  #beforeClose: () => Promise<void> = async () => {}

  constructor(
    directory: string,
    worker: Worker,
    { fd, ending }: { readonly fd: number; readonly ending: Int32Array },
  ) {
    this.directory = directory
    // By which it is known among others in the same place.
    this.#entry = findOwnMount(directory)
    this.#guard = this.#entry && guardConnection(this.#entry)
    this.#ending = ending
    // A thread that waits for the kernel does not end with its process.
    this.#atExit = () => {
      this.#stop()
      this.#guard?.[Symbol.dispose]()
    }
    process.once('exit', this.#atExit)
    this.ended = this.#waitForEnd(worker, fd)
    // Whoever only disposes of it need not listen.
    this.ended.catch(() => {})
  }

  /** Has something done when the mount has ended, before its device is closed. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work
  }

  /** EUNAVAILABLE while somebody uses it. */
  async unmount(): Promise<void> {
    await unmount(this.directory)
    await this.ended
  }

  /** Unmounts it, in use or not: whoever still uses it gets ENOTCONN. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    await this.ended.catch(() => {})
    this.#forceUnmount()
  }

  /** Ends the thread that serves, also while somebody uses the mount. */
  #stop(): void {
    Atomics.store(this.#ending, 0, 1)
    // Once it is gone, its numbers may be another's.
    if (this.#entry === undefined || findOwnMount(this.directory)?.id !== this.#entry.id) return
    const isEnded = endConnection(this.#entry)
    if (isRoot()) this.#forceUnmount()
    // The thread is woken by a last request, and looks up.
    else if (!isEnded) pokeServer(this.directory)
  }

  #forceUnmount(): void {
    forceUnmount(this.directory, this.#entry?.id)
  }

  async #waitForEnd(worker: Worker, fd: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.once('error', reject)
    try {
      await promise
    } catch (error) {
      // Nobody answers behind it any more.
      this.#forceUnmount()
      throw error
    } finally {
      process.off('exit', this.#atExit)
      await this.#beforeClose()
      closeSync(fd)
      this.#guard?.[Symbol.dispose]()
    }
  }
}

/** A number that threads share; 0 at first. */
export function createSharedNumber(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}
