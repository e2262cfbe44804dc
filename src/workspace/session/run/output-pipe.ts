import { execFile } from 'node:child_process'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { outputPipes } from '../../isolation/index.ts'

export type OutputStream = (typeof outputPipes)[number]

/** Creates the named pipes for the output of commands in a directory, unless they exist. */
export async function createOutputPipes(directory: string): Promise<void> {
  const paths = outputPipes.map((name) => join(directory, name))
  if (paths.every((path) => existsSync(path))) return
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { env: { PATH: '/usr/bin:/bin' } })
}

/**
 * One output stream of a command, through a named pipe. Node would make a socket, which a program cannot open again:
 * `echo problem > /dev/stderr` would fail.
 */
export class OutputPipe {
  /** Descriptor for the command to write to. Until `release` closes it here, the output has no end. */
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
