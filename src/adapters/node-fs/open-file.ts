import { type StatChanges, type SyncStat, VfsError } from '../../vfs/index.ts'
import type { Flags } from './flags.ts'
import type { Ground, GroundFile } from './ground.ts'
import { nodeError } from './node-error.ts'
import { type Answer, type Steps, settled } from './steps.ts'

/** How much of a file of unknown size is read at a time. */
const CHUNK_BYTES = 512 * 1024

/** A file or directory that is open: what it may be used for, and where the next read or write goes. */
export class OpenFile {
  readonly path: string
  readonly #ground: Ground
  readonly #flags: Flags
  /** Undefined for a directory. */
  readonly #file: GroundFile | undefined
  #position = 0
  /** The last of the additions that are under way. */
  #adding: Promise<unknown> | undefined

  constructor(ground: Ground, path: string, flags: Flags, file: GroundFile | undefined) {
    this.#ground = ground
    this.path = path
    this.#flags = flags
    this.#file = file
  }

  /** At a position, or (null) where the last read or write ended. EBADF, EISDIR. */
  *read(length: number, position: number | null): Steps<Uint8Array> {
    const file = this.#content('read', this.#flags.read)
    const bytes = yield* settled(file.read(position ?? this.#position, length))
    if (position === null) this.#position += bytes.length
    return bytes
  }

  /** From where the last read or write ended. */
  *readRest(): Steps<Buffer> {
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = yield* this.read(CHUNK_BYTES, null)
      chunks.push(chunk)
      if (chunk.length < CHUNK_BYTES) return Buffer.concat(chunks)
    }
  }

  /** At a position, or (null) where the last read or write ended; always at the end if it was opened to append. EBADF. */
  *write(bytes: Uint8Array, position: number | null): Steps<void> {
    const file = this.#content('write', this.#flags.write)
    if (bytes.length === 0) return
    if (this.#flags.append) {
      const end = yield* settled(this.#add(file, bytes))
      if (position === null) this.#position = end
      return
    }
    const at = position ?? this.#position
    // Before the write, so that the next one need not wait for this one to know its place.
    if (position === null) this.#position = at + bytes.length
    yield* settled(file.write(at, bytes))
  }

  *truncate(size: number): Steps<void> {
    if (!this.#flags.write || this.#file === undefined) throw nodeError('EINVAL', { syscall: 'ftruncate' })
    yield* settled(this.#file.truncate(size))
  }

  *stat(): Steps<SyncStat> {
    return yield* settled(this.#file === undefined ? this.#ground.lstat(this.path) : this.#file.stat())
  }

  *sync(): Steps<void> {
    if (this.#file !== undefined) yield* settled(this.#file.sync())
  }

  /** By the path it was opened at, as long as that leads to this very file. ENOENT. */
  *setattr(changes: StatChanges): Steps<void> {
    if (this.#file !== undefined) {
      const { ino } = yield* settled(this.#file.stat())
      const there = yield* settled(this.#ground.lstat(this.path))
      if (there.ino !== ino) throw new VfsError('ENOENT', this.path)
    }
    yield* settled(this.#ground.setattr(this.path, changes))
  }

  *close(): Steps<void> {
    if (this.#file !== undefined) yield* settled(this.#file.close())
  }

  /** After the additions that are under way, since each begins where the last one ended. The new size. */
  #add(file: GroundFile, bytes: Uint8Array): Answer<number> {
    const added = this.#adding?.then(() => addTo(file, bytes)) ?? addTo(file, bytes)
    if (!(added instanceof Promise)) return added
    const done = added
      .catch(() => {})
      .then(() => {
        if (this.#adding === done) this.#adding = undefined
      })
    this.#adding = done
    return added
  }

  #content(syscall: string, isAllowed: boolean): GroundFile {
    if (!isAllowed) throw nodeError('EBADF', { syscall })
    if (this.#file === undefined) throw nodeError('EISDIR', { syscall })
    return this.#file
  }
}

function addTo(file: GroundFile, bytes: Uint8Array): Answer<number> {
  const stat = file.stat()
  if (stat instanceof Promise) return stat.then(({ size }) => writeAt(file, size, bytes))
  return writeAt(file, stat.size, bytes)
}

function writeAt(file: GroundFile, position: number, bytes: Uint8Array): Answer<number> {
  const end = position + bytes.length
  const written = file.write(position, bytes)
  return written instanceof Promise ? written.then(() => end) : end
}
