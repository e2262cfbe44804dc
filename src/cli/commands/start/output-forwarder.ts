import type { Terminal } from '../../framework/terminal.ts'

type Stream = 'stdout' | 'stderr'

/**
 * What a command of ours writes, passed on as it comes for as long as it can be. Where it cannot, the command is to
 * find its own pipe closed, and what it changes is kept all the same.
 */
export class OutputForwarder {
  readonly #terminal: Terminal
  readonly #closed = new Set<Stream>()

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    terminal.out.on('error', (error) => this.#closeStream('stdout', error))
    terminal.err.on('error', (error) => this.#closeStream('stderr', error))
  }

  /** Fulfilled when it was passed on, or cannot be: what a slow reader has not taken yet is not to pile up here. */
  write(stream: Stream, chunk: Uint8Array | string): Promise<void> {
    const { out, err } = this.#terminal
    if (!this.isOpen(stream)) return Promise.resolve()
    return new Promise((resolve) => (stream === 'stdout' ? out : err).write(chunk, () => resolve()))
  }

  isOpen(stream: Stream): boolean {
    return !this.#closed.has(stream)
  }

  #closeStream(stream: Stream, error: Error): void {
    this.#closed.add(stream)
    // A reader that has had enough, such as head, is nothing to complain about.
    if ('code' in error && error.code === 'EPIPE') return
    void this.write('stderr', `coppice: what the command writes cannot be passed on: ${error.message}\n`)
  }
}
