import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const streams = ['stdout', 'stderr'] as const
export type OutputStream = (typeof streams)[number]

/** Makes the pipes that the commands of a session write to. */
export async function createOutputPipes(directory: string): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', ...streams.map((stream) => join(directory, stream))], {
    env: { PATH: '/usr/bin:/bin' },
  })
}

/** Lines of a shell that make them, in the directory of the session, where one is to run anyway. */
export function createOutputPipeLines(): string[] {
  return [`[ -p ${streams[0]} ] || mkfifo -m 600 ${streams.join(' ')}`]
}

/**
 * One output of a command. A named pipe, since what Node makes are sockets, which a program cannot open again:
 * `echo problem > /dev/stderr` would fail.
 */
export class OutputPipe {
  /** Descriptor for the command; `release` closes it here. */
  readonly descriptor: number
  readonly #reader: Socket
  readonly #ended: Promise<void>
  #isReaderPaused = false

  /** Reads on once what was read is taken: who takes it slowly fills the pipe, and the command waits as in a shell. */
  constructor(directory: string, stream: OutputStream, take: (chunk: Uint8Array) => unknown) {
    const path = join(directory, stream)
    const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.descriptor = openSync(path, constants.O_WRONLY)
    this.#reader = new Socket({ fd: source, readable: true, writable: false })
    this.#reader.on('data', (chunk) => this.#pauseUntil(take(chunk)))
    this.#ended = new Promise((resolve) => this.#reader.once('close', () => resolve()))
  }

  /** True while it waits for the reader to process a chunk. */
  get isPaused(): boolean {
    return this.#isReaderPaused
  }

  release(): void {
    closeSync(this.descriptor)
  }

  /** Waits until nobody can write any more and all is read. */
  waitForEnd(): Promise<void> {
    return this.#ended
  }

  /** Stops to listen, whoever may still write. */
  close(): void {
    this.#reader.destroy()
  }

  async #pauseUntil(taken: unknown): Promise<void> {
    if (!(taken instanceof Promise)) return
    this.#isReaderPaused = true
    this.#reader.pause()
    await taken
    this.#isReaderPaused = false
    this.#reader.resume()
  }
}
