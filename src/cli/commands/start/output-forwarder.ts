import type { Terminal } from '../../framework/terminal.ts'

type Stream = 'stdout' | 'stderr'

/**
 * Forwards the output of a command as it comes. If a stream fails, the command finds its own pipe closed, and its
 * changes are still kept.
 */
export class OutputForwarder {
  readonly #terminal: Terminal
  readonly #closed = new Set<Stream>()

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    terminal.out.on('error', (error) => this.#closeStream('stdout', error))
    terminal.err.on('error', (error) => this.#closeStream('stderr', error))
  }

  /** Resolves when the chunk was forwarded or dropped, so that a slow reader does not fill the memory. */
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
    // A reader that stops early, such as head, is no error.
    if ('code' in error && error.code === 'EPIPE') return
    void this.write('stderr', `coppice: cannot forward the output of the command: ${error.message}\n`)
  }
}
