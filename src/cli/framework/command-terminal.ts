import { EventEmitter, once } from 'node:events'
import { ReadStream, WriteStream } from 'node:tty'
import { type CommandTerminal, hasPseudoTerminals } from '../../workspace/index.ts'
import type { Terminal } from './terminal.ts'

/** Size of a terminal that does not report one, such as a serial line. */
const [DEFAULT_COLUMNS, DEFAULT_ROWS] = [80, 24]

/** Returns the terminal for a command that a person watches and types to; undefined if there is none. */
export function findCommandTerminal(terminal: Terminal): CommandTerminal | undefined {
  // Elsewhere a command gets pipes.
  if (!hasPseudoTerminals()) return undefined
  const { out } = terminal
  if (!(out instanceof WriteStream)) return undefined
  const { in: input } = terminal
  if (!(input instanceof ReadStream)) return undefined
  return 'fd' in input && typeof input.fd === 'number' ? new PersonTerminal(input, input.fd, out) : undefined
}

/** The terminal of this process, lent to a command. */
class PersonTerminal implements CommandTerminal {
  readonly #announcements = new EventEmitter<{ line: [string] }>()
  readonly descriptor: number
  readonly #input: ReadStream
  readonly #output: WriteStream

  constructor(input: ReadStream, descriptor: number, output: WriteStream) {
    this.#input = input
    this.#output = output
    this.descriptor = descriptor
  }

  size() {
    return { columns: this.#output.columns || DEFAULT_COLUMNS, rows: this.#output.rows || DEFAULT_ROWS }
  }

  setRaw(isRaw: boolean): void {
    // A closed terminal has no modes.
    if (!this.#input.destroyed) this.#input.setRawMode(isRaw)
  }

  onInput(receive: (chunk: Uint8Array) => void): () => void {
    this.#input.on('data', receive)
    this.#input.resume()
    return () => {
      this.#input.off('data', receive)
      this.#input.pause()
    }
  }

  onResize(notify: () => void): () => void {
    this.#output.on('resize', notify)
    return () => this.#output.off('resize', notify)
  }

  onClose(notify: () => void): () => void {
    // A terminal that is closed ends or fails its input.
    for (const event of ['end', 'error']) this.#input.on(event, notify)
    return () => {
      for (const event of ['end', 'error']) this.#input.off(event, notify)
    }
  }

  write(chunk: Uint8Array | string): Promise<void> | undefined {
    if (chunk.length === 0 || this.#output.write(chunk)) return undefined
    return once(this.#output, 'drain').then(
      () => undefined,
      // The terminal was closed; its signal ends the command.
      () => undefined,
    )
  }

  announce(line: string): void {
    this.#announcements.emit('line', line)
  }

  onAnnouncement(show: (line: string) => void): () => void {
    this.#announcements.on('line', show)
    return () => this.#announcements.off('line', show)
  }

  async suspend(): Promise<void> {
    const resumed = once(process, 'SIGCONT')
    // The whole group, as ^Z does: a program such as npx may have started this one.
    process.kill(0, 'SIGTSTP')
    // Nothing stops a group that no shell watches. Then the command goes on at once.
    process.kill(process.pid, 'SIGCONT')
    await resumed
  }
}
