import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const streams = ['stdout', 'stderr'] as const
export type OutputStream = (typeof streams)[number]

/** Creates the named pipes for the output of commands in a directory. */
export async function createOutputPipes(directory: string): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', ...streams.map((stream) => join(directory, stream))], {
    env: { PATH: '/usr/bin:/bin' },
  })
}

/** Returns shell lines that create them in the current directory, for a shell that runs anyway. */
export function createOutputPipeLines(): string[] {
  return [`[ -p ${streams[0]} ] || mkfifo -m 600 ${streams.join(' ')}`]
}

/**
 * One output stream of a command, through a named pipe. Node would make a socket, which a program cannot open again:
 * `echo problem > /dev/stderr` would fail.
 */
export class OutputPipe {
  /** Descriptor for the command; `release` closes it here. */
  readonly descriptor: number
  readonly #reader: Socket
  readonly #ended: Promise<void>
  #isReaderPaused = false

  /** @param take receives each chunk. While its promise is pending nothing is read, so the command waits as in a shell. */
  constructor(directory: string, stream: OutputStream, take: (chunk: Uint8Array) => unknown) {
    const path = join(directory, stream)
    const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.descriptor = openSync(path, constants.O_WRONLY)
    this.#reader = new Socket({ fd: source, readable: true, writable: false })
    this.#reader.on('data', (chunk) => this.#pauseUntil(take(chunk)))
    this.#ended = new Promise((resolve) => this.#reader.once('close', () => resolve()))
  }

  /** True while the promise of `take` is pending. */
  get isPaused(): boolean {
    return this.#isReaderPaused
  }

  release(): void {
    closeSync(this.descriptor)
  }

  /** Resolves when all writers have closed the pipe and everything is read. */
  waitForEnd(): Promise<void> {
    return this.#ended
  }

  /** Stops reading, even if a process still writes. */
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
