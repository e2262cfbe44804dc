import { setImmediate as nextTurn } from 'node:timers/promises'

/** How much is read before other work of the process may run, and what a file counts for besides its content. */
const TURN_BYTES = 4 * 1024 * 1024
const TURN_FILE_BYTES = 512

/** Lets other work of the process run now and then, and stops when asked to. */
export class Turns {
  readonly #signal: AbortSignal | undefined
  #bytes = 0

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  async take(bytes: Uint8Array | undefined): Promise<void> {
    this.#signal?.throwIfAborted()
    this.#bytes += TURN_FILE_BYTES + (bytes?.length ?? 0)
    if (this.#bytes < TURN_BYTES) return
    this.#bytes = 0
    await nextTurn()
    this.#signal?.throwIfAborted()
  }
}
