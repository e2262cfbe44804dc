import { closeSync } from 'node:fs'
import { DirectoryFault } from './directory-fault.ts'

interface Held {
  fd: number | undefined
}

const forgotten = new FinalizationRegistry<Held>(closeHeld)

/**
 * An open file descriptor that is closed exactly once.
 * Close it only when no system call on it is under way: its number may belong to another file a moment later.
 */
export class Descriptor {
  readonly #held: Held
  #isGuarded = false

  constructor(fd: number) {
    this.#held = { fd }
  }

  /** EBADF once it is closed. */
  get fd(): number {
    const { fd } = this.#held
    if (fd === undefined) throw new DirectoryFault('EBADF')
    return fd
  }

  /** For one that is handed to a caller: should it be forgotten, the garbage collector's finalizer closes it. */
  guard(): this {
    forgotten.register(this, this.#held, this.#held)
    this.#isGuarded = true
    return this
  }

  close(): void {
    if (this.#isGuarded) forgotten.unregister(this.#held)
    closeHeld(this.#held)
  }
}

function closeHeld(held: Held): void {
  const { fd } = held
  if (fd === undefined) return
  held.fd = undefined
  closeSync(fd)
}
