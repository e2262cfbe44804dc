import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bytes to read before other work of the process may run, and the overhead counted per file. */
const YIELD_AFTER_BYTES = 4 * 1024 * 1024
const FILE_OVERHEAD_BYTES = 512

/** Yields to other work of the process regularly, and stops on abort. */
export class SearchYielder {
  readonly #signal: AbortSignal | undefined
  #bytes = 0

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  async yieldIfDue(bytes: Uint8Array | undefined): Promise<void> {
    this.#signal?.throwIfAborted()
    this.#bytes += FILE_OVERHEAD_BYTES + (bytes?.length ?? 0)
    if (this.#bytes < YIELD_AFTER_BYTES) return
    this.#bytes = 0
    await nextTurn()
    this.#signal?.throwIfAborted()
  }
}
