import { constants, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { FileDescriptor } from '../../machine/index.ts'
import { byteStream, type ReadOptions } from '../../vfs/index.ts'
import { attempt, attemptAsync, type HostCall, HostFsFault } from './host-errors.ts'
import type { ConfinedPath } from './path-resolution.ts'

const { O_NONBLOCK } = constants
const MIN_READ_BYTES = 4 * 1024
const DEFAULT_READ_BYTES = 64 * 1024
const MAX_READ_BYTES = 1024 * 1024
/** Files up to this size are read synchronously: that takes less time than to wake a thread, as looking up a path does. */
const MAX_SYNC_BYTES = 64 * 1024
const readAsync = promisify(read)

/** An open regular file with its size at open. */
export interface OpenHostFile {
  readonly descriptor: FileDescriptor
  readonly size: number
}

/** Opens a file. ENOENT, EISDIR, and ENOTSUP for pipes, sockets and devices, because opening one could block. */
export function openHostFile(
  { directory, name, entry }: ConfinedPath,
  flags: number,
  mode?: number,
): OpenHostFile {
  if (entry === undefined && !(flags & constants.O_CREAT)) throw new HostFsFault('ENOENT')
  if (entry) assertFile(entry)
  const descriptor = directory.open(name, flags | O_NONBLOCK, mode)
  try {
    // Checked again: the entry may have been replaced by a pipe meanwhile.
    const opened = fstatSync(descriptor.fd)
    assertFile(opened)
    return { descriptor, size: opened.size }
  } catch (error) {
    descriptor.close()
    throw error
  }
}

export function assertFile(entry: Stats): void {
  if (entry.isFile()) return
  if (entry.isDirectory()) throw new HostFsFault('EISDIR')
  if (entry.isSymbolicLink()) throw new HostFsFault('ELOOP')
  throw new HostFsFault('ENOTSUP', 'pipes, sockets and devices cannot be read or replaced')
}

/**
 * The stream of `read`. The file is opened at once, so that a later overwrite does not change the content. It is closed
 * at the end, on an error, or when the reader leaves.
 */
export class FileStream implements AsyncIterableIterator<Uint8Array> {
  readonly #chunks: AsyncIterableIterator<Uint8Array>
  #file: OpenHostFile | undefined

  constructor(open: () => OpenHostFile, call: HostCall, options: ReadOptions) {
    const requestedBytes = options.chunkSize ?? DEFAULT_READ_BYTES
    const readBytes = Math.min(Math.max(requestedBytes, DEFAULT_READ_BYTES), MAX_READ_BYTES)
    // Opened here because `byteStream` checks the options first.
    const bytes = (start: number, length: number) => {
      const file = open()
      file.descriptor.closeOnFinalize()
      this.#file = file
      return readPieces(file, call, readBytes, start, length)
    }
    this.#chunks = byteStream(bytes, call.path, options)
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#chunks.next()
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    // Waits for a running read. A stream that was never started has to close its file itself.
    await this.#chunks.return?.()
    this.#file?.descriptor.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

async function* readPieces(
  { descriptor, size }: OpenHostFile,
  call: HostCall,
  readBytes: number,
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  try {
    const end = Math.min(start + length, Number.MAX_SAFE_INTEGER)
    for (let position = start; position < end; ) {
      const readLength = Math.min(end - position, readBytes, Math.max(size - position + 1, MIN_READ_BYTES))
      const buffer = Buffer.allocUnsafe(readLength)
      const bytesRead =
        size > 0 && size <= MAX_SYNC_BYTES
          ? attempt(call, () => readSync(descriptor.fd, buffer, 0, readLength, position))
          : (await attemptAsync(call, () => readAsync(descriptor.fd, buffer, 0, readLength, position)))
              .bytesRead
      position += bytesRead
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
      if (bytesRead === 0 || isEnd(position, bytesRead < readLength, size)) return
    }
  } finally {
    descriptor.close()
  }
}

/**
 * Reports whether a read has reached the end, which saves the final empty read. Never for files of size 0: those of `/proc`
 * report 0 and return their content in parts.
 */
function isEnd(position: number, isShort: boolean, size: number): boolean {
  return isShort && size > 0 && position >= size
}
