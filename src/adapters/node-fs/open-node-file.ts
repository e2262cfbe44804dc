import { type StatChanges, type SyncStat, VfsError } from '../../vfs/index.ts'
import { CallQueue } from './call-queue.ts'
import { type Coroutine, type MaybeAsync, waitFor } from './coroutine.ts'
import type { OpenFlags } from './flags.ts'
import type { DriverFile, FsDriver } from './fs-driver.ts'
import { createNodeError } from './node-error.ts'

/** Bytes per read of a file of unknown size. */
const CHUNK_BYTES = 512 * 1024

/** An open file or directory with its flags and its position. */
export class OpenNodeFile {
  readonly path: string
  readonly #driver: FsDriver
  readonly #flags: OpenFlags
  /** Undefined for a directory. */
  readonly #file: DriverFile | undefined
  #position = 0
  /** Reads at the current position: each begins where the last ended. */
  readonly #reads = new CallQueue()
  readonly #appends = new CallQueue()

  constructor(driver: FsDriver, path: string, flags: OpenFlags, file: DriverFile | undefined) {
    this.#driver = driver
    this.path = path
    this.#flags = flags
    this.#file = file
  }

  /** Reads at a position, or (null) at the current one. EBADF if it is not open for reading, EISDIR. */
  *read(length: number, position: number | null): Coroutine<Uint8Array> {
    const file = this.#requireFile('read', this.#flags.read)
    if (position !== null) return yield* waitFor(file.read(position, length))
    return yield* waitFor(this.#reads.run(() => this.#readNext(file, length)))
  }

  /** Reads from the current position to the end. */
  *readRest(): Coroutine<Buffer> {
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = yield* this.read(CHUNK_BYTES, null)
      chunks.push(chunk)
      if (chunk.length < CHUNK_BYTES) return Buffer.concat(chunks)
    }
  }

  /**
   * Writes at a position, or (null) at the current one; in append mode always at the end. EBADF if it is not open for
   * writing.
   */
  *write(bytes: Uint8Array, position: number | null): Coroutine<void> {
    const file = this.#requireFile('write', this.#flags.write)
    if (bytes.length === 0) return
    if (this.#flags.append) {
      const end = yield* waitFor(this.#appends.run(() => appendTo(file, bytes)))
      if (position === null) this.#position = end
      return
    }
    const offset = position ?? this.#position
    // Advance before the write, so that the next one need not wait for it.
    if (position === null) this.#position = offset + bytes.length
    yield* waitFor(file.write(offset, bytes))
  }

  *truncate(size: number): Coroutine<void> {
    if (!this.#flags.write || this.#file === undefined)
      throw createNodeError('EINVAL', { syscall: 'ftruncate' })
    yield* waitFor(this.#file.truncate(size))
  }

  *stat(): Coroutine<SyncStat> {
    return yield* waitFor(this.#file === undefined ? this.#driver.lstat(this.path) : this.#file.stat())
  }

  *sync(): Coroutine<void> {
    if (this.#file !== undefined) yield* waitFor(this.#file.sync())
  }

  /** Sets attributes by path, if the path still leads to this file; ENOENT otherwise. */
  *setattr(changes: StatChanges): Coroutine<void> {
    if (this.#file !== undefined) {
      const { ino } = yield* waitFor(this.#file.stat())
      const current = yield* waitFor(this.#driver.lstat(this.path))
      if (current.ino !== ino) throw new VfsError('ENOENT', this.path)
    }
    yield* waitFor(this.#driver.setattr(this.path, changes))
  }

  *close(): Coroutine<void> {
    if (this.#file !== undefined) yield* waitFor(this.#file.close())
  }

  /** Reads at the current position and advances it. */
  #readNext(file: DriverFile, length: number): MaybeAsync<Uint8Array> {
    const advance = (bytes: Uint8Array) => {
      this.#position += bytes.length
      return bytes
    }
    const bytes = file.read(this.#position, length)
    return bytes instanceof Promise ? bytes.then(advance) : advance(bytes)
  }

  #requireFile(syscall: string, isAllowed: boolean): DriverFile {
    if (!isAllowed) throw createNodeError('EBADF', { syscall })
    if (this.#file === undefined) throw createNodeError('EISDIR', { syscall })
    return this.#file
  }
}

/** Appends to a file and returns its new size. */
function appendTo(file: DriverFile, bytes: Uint8Array): MaybeAsync<number> {
  const stat = file.stat()
  if (stat instanceof Promise) return stat.then(({ size }) => writeAt(file, size, bytes))
  return writeAt(file, stat.size, bytes)
}

function writeAt(file: DriverFile, position: number, bytes: Uint8Array): MaybeAsync<number> {
  const end = position + bytes.length
  const written = file.write(position, bytes)
  return written instanceof Promise ? written.then(() => end) : end
}
