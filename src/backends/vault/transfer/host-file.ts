import { type BigIntStats, closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { isErrno } from '../../../machine/index.ts'
import type { HostDirectory } from './host-directory.ts'
import { HostFault } from './host-fault.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const READ_BYTES = 1024 * 1024
const readAsync = promisify(read)

/** A regular file of the machine, open for reading, as it was when it was opened. */
export class HostFile {
  readonly stats: BigIntStats
  readonly #fd: number

  /**
   * Opens what is there now, whatever it was a moment ago: never through a link, and never waiting for the other end
   * of a pipe. A fault if it is not a regular file.
   */
  constructor(directory: HostDirectory, name: string) {
    this.#fd = open(directory, name)
    this.stats = fstatSync(this.#fd, { bigint: true })
    if (this.stats.isFile()) return
    this.close()
    throw new HostFault('ENOTSUP', `it was replaced by ${describeKind(this.stats)} meanwhile`)
  }

  /** All of it at once; for small files. */
  readAll(): Buffer {
    const parts: Buffer[] = []
    // One more byte than there should be tells whether that was all.
    for (let room = Number(this.stats.size) + 1; ; room = READ_BYTES) {
      const buffer = Buffer.allocUnsafe(room)
      const length = this.#fill(buffer)
      parts.push(buffer.subarray(0, length))
      if (length < room) return parts.length === 1 ? buffer.subarray(0, length) : Buffer.concat(parts)
    }
  }

  async *chunks(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    for (;;) {
      signal?.throwIfAborted()
      const buffer = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await readAsync(this.#fd, buffer, 0, READ_BYTES, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  #fill(buffer: Buffer): number {
    let length = 0
    for (let more = -1; more !== 0 && length < buffer.length; length += more) {
      more = readSync(this.#fd, buffer, length, buffer.length - length, null)
    }
    return length
  }
}

/** What somebody who looks at it would call it. */
export function describeKind(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return 'a device'
  return stats.isDirectory() ? 'a directory' : stats.isFile() ? 'a file' : 'something unknown'
}

function open(directory: HostDirectory, name: string): number {
  try {
    return openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (isErrno(error, 'ELOOP')) throw new HostFault('ELOOP', 'it was replaced by a link meanwhile')
    // What opening a socket says.
    if (isErrno(error, 'ENXIO'))
      throw new HostFault('ENOTSUP', 'it was replaced by a socket or device meanwhile')
    throw error
  }
}
