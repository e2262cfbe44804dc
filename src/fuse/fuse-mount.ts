import { closeSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { endConnection, guardConnection } from './mounting/connection-guard.ts'
import { findFuseMount, type MountEntry } from './mounting/mount-list.ts'
import { forceUnmount, isRoot, pokeServer, unmount } from './mounting/unmount.ts'

/** A file system mounted in a directory of this machine while this process serves it. Dispose of it to unmount. */
export class FuseMount implements AsyncDisposable {
  readonly directory: string
  /** Resolves when any process has unmounted it; rejects if the server failed. */
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
    // Identifies this mount among others at the same path.
    this.#entry = findFuseMount(directory)
    this.#guard = this.#entry && guardConnection(this.#entry, fd)
    this.#ending = ending
    // A thread blocked in a read of the device does not end with its process.
    this.#atExit = () => {
      this.#stop()
      this.#guard?.[Symbol.dispose]()
    }
    process.once('exit', this.#atExit)
    this.ended = this.#waitForEnd(worker, fd)
    // Callers that only dispose of the mount need not handle it.
    this.ended.catch(() => {})
  }

  /** Sets the function that runs when the mount has ended, before its device is closed. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose = work
  }

  /** Unmounts it and waits for its end. EUNAVAILABLE while it is in use, EINVAL if it is not mounted. */
  async unmount(): Promise<void> {
    await unmount(this.directory)
    await this.ended
  }

  /** Unmounts it even if it is in use: its users get ENOTCONN. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    await this.ended.catch(() => {})
    this.#forceUnmount()
  }

  /** Ends the serving thread, even if the mount is in use. */
  #stop(): void {
    Atomics.store(this.#ending, 0, 1)
    // After the mount has ended, its ids may be reused.
    if (this.#entry === undefined || findFuseMount(this.directory)?.id !== this.#entry.id) return
    const isEnded = endConnection(this.#entry)
    if (isRoot()) this.#forceUnmount()
    // One more request wakes the thread, which then sees `ending`.
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
      // The server has stopped.
      this.#forceUnmount()
      throw error
    } finally {
      process.off('exit', this.#atExit)
      try {
        await this.#beforeClose()
      } finally {
        closeSync(fd)
        this.#guard?.[Symbol.dispose]()
      }
    }
  }
}

/** Creates a number in shared memory; initially 0. */
export function createSharedNumber(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}
