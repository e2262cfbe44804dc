import { type BigIntStats, closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { isErrno } from '../../../machine/index.ts'
import { HostFault } from './host-fault.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const READ_BYTES = 1024 * 1024
const readAsync = promisify(read)

/** A regular file of the machine, open for reading, with its stats at open. */
export class HostFile {
  readonly stats: BigIntStats
  readonly #fd: number

  /**
   * Opens the current file, never through a link in its name, and never waits for a pipe. Throws a fault if it is not a
   * regular file.
   * @param path from `HostDirectory.at`.
   */
  constructor(path: string) {
    this.#fd = open(path)
    this.stats = fstatSync(this.#fd, { bigint: true })
    if (this.stats.isFile()) return
    this.close()
    throw new HostFault('ENOTSUP', `the file was replaced by ${describeKind(this.stats)} meanwhile`)
  }

  /** Reads the whole file synchronously; for small files. */
  readAll(): Buffer {
    const parts: Buffer[] = []
    // One extra byte shows whether the file has grown.
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

/** Returns the kind of a file for messages. */
export function describeKind(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return 'a device'
  return stats.isDirectory() ? 'a directory' : stats.isFile() ? 'a file' : 'an unknown kind of file'
}

function open(path: string): number {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (isErrno(error, 'ELOOP')) throw new HostFault('ELOOP', 'the file was replaced by a link meanwhile')
    // The error for opening a socket.
    if (isErrno(error, 'ENXIO'))
      throw new HostFault('ENOTSUP', 'the file was replaced by a socket or device meanwhile')
    throw error
  }
}
