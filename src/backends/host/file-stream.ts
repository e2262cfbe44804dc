import { constants, fstatSync, read, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { FileDescriptor } from '../../machine/index.ts'
import { byteStream, type ReadOptions } from '../../vfs/index.ts'
import type { ConfinedPath } from './confinement.ts'
import { attemptAsync, type HostCall, HostFsFault } from './host-errors.ts'

const { O_NONBLOCK } = constants
const MIN_READ_BYTES = 4 * 1024
const DEFAULT_READ_BYTES = 64 * 1024
const MAX_READ_BYTES = 1024 * 1024
const readAsync = promisify(read)

/** A regular file, opened, with its size at that moment. */
export interface OpenHostFile {
  readonly descriptor: FileDescriptor
  readonly size: number
}

/** Opens the file at a place. ENOENT, EISDIR, and ENOTSUP for pipes, sockets and devices: to open one could hang. */
export function openHostFile(
  { directory, name, entry }: ConfinedPath,
  flags: number,
  mode?: number,
): OpenHostFile {
  if (entry === undefined && !(flags & constants.O_CREAT)) throw new HostFsFault('ENOENT')
  if (entry) assertFile(entry)
  const descriptor = directory.open(name, flags | O_NONBLOCK, mode)
  try {
    // It may be another one than was found: whoever replaced it by a pipe gains nothing.
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
  throw new HostFsFault('ENOTSUP', 'a pipe, socket or device has no content to read or replace')
}

/**
 * What `read` returns. The file is open from the start, so that an overwrite meanwhile does not change what is read,
 * and closed at the end, on an error, or when the reader leaves.
 */
export class FileStream implements AsyncIterableIterator<Uint8Array> {
  readonly #chunks: AsyncIterableIterator<Uint8Array>
  #file: OpenHostFile | undefined

  constructor(open: () => OpenHostFile, asked: HostCall, options: ReadOptions) {
    const atOnce = options.chunkSize ?? DEFAULT_READ_BYTES
    const readBytes = Math.min(Math.max(atOnce, DEFAULT_READ_BYTES), MAX_READ_BYTES)
    // Opened in here because `byteStream` refuses bad options first.
    const bytes = (start: number, length: number) => {
      const file = open()
      file.descriptor.closeOnFinalize()
      this.#file = file
      return readPieces(file, asked, readBytes, start, length)
    }
    this.#chunks = byteStream(bytes, asked.path, options)
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#chunks.next()
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    // After a read that is under way; and a stream that was never begun has nobody else to close its file.
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
  asked: HostCall,
  readBytes: number,
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  try {
    const end = Math.min(start + length, Number.MAX_SAFE_INTEGER)
    for (let at = start; at < end; ) {
      const wanted = Math.min(end - at, readBytes, Math.max(size - at + 1, MIN_READ_BYTES))
      const buffer = Buffer.allocUnsafe(wanted)
      const { bytesRead } = await attemptAsync(asked, () => readAsync(descriptor.fd, buffer, 0, wanted, at))
      at += bytesRead
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
      if (bytesRead === 0 || isEnd(at, bytesRead < wanted, size)) return
    }
  } finally {
    descriptor.close()
  }
}

/** Saves the last, empty read. Not for files of size 0: those of `/proc` are, and give what they have in parts. */
function isEnd(at: number, isShort: boolean, size: number): boolean {
  return isShort && size > 0 && at >= size
}
