import { isVfsError, VfsError } from '../error.ts'
import type { Content, FileSystem } from '../file-system.ts'
import type { InodeIdentity } from '../protocols.ts'
import { catchErrors, ReadyStream } from '../ready-stream.ts'
import { InMemoryByteStream } from '../streams.ts'
import { isSynchronous, type SyncFileSystem } from '../sync-file-system.ts'

/** Number of mounts in one table whose inode numbers cannot collide. */
const MAX_NUMBERED_MOUNTS = 1024

/** One file system at its mount point. */
export class Mount {
  /** The mount point. */
  readonly path: string
  readonly fs: FileSystem
  /** Prefix of the mount's paths; empty for a mount at the root. */
  readonly prefix: string
  /** The number of this mount in its table. */
  readonly number: number
  /** Errors of incoming content, which are passed on untranslated. */
  readonly #foreignErrors = new WeakSet<Error>()

  constructor(path: string, fs: FileSystem, number: number) {
    this.path = path
    this.fs = fs
    this.number = number
    this.prefix = path === '/' ? '' : path
  }

  /** Converts an inode number to one that is unique in the table. Multiplies rather than adds, so that tables nest. */
  static toTableIno(ino: number, mount: number): number {
    return ino * MAX_NUMBERED_MOUNTS + (mount % MAX_NUMBERED_MOUNTS)
  }

  /** Converts a file's identity to that of the namespace. */
  withTableIno<T extends InodeIdentity>(found: T): T {
    return { ...found, ino: Mount.toTableIno(found.ino, this.number) }
  }

  /** Converts a path of the namespace to one of the mounted file system. */
  toInnerPath(path: string): string {
    return this.prefix === '' ? path : path.slice(this.prefix.length) || '/'
  }

  /** Converts a path of the mounted file system to one of the namespace. */
  toOuterPath(path: string): string {
    return path === '/' ? this.path : this.prefix + path
  }

  /** Returns the same error with its path in the user's namespace. */
  translateError(error: unknown): unknown {
    if (!isVfsError(error) || this.#foreignErrors.has(error)) return error
    const mount = error.mount === undefined ? this.path : this.toOuterPath(error.mount)
    return VfsError.withPath(error, this.toOuterPath(error.path), mount)
  }

  /** Marks failures of incoming content, so that they are not taken for failures of this mount. */
  markIncoming(content: Content): Content {
    return typeof content === 'string' || content instanceof Uint8Array ? content : this.#markErrors(content)
  }

  async *#markErrors<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* source
    } catch (error) {
      if (isVfsError(error)) this.#foreignErrors.add(error)
      throw error
    }
  }

  /** Calls the mounted file system and translates its errors. */
  call<T>(call: (fs: FileSystem) => Promise<T>): Promise<T> {
    try {
      return call(this.fs).catch(this.#throwTranslated)
    } catch (error) {
      return Promise.reject(this.translateError(error))
    }
  }

  /** Calls the synchronous face and translates its errors. ENOTSUP if there is none. */
  callSync<T>(call: (sync: SyncFileSystem) => T): T {
    const { fs } = this
    try {
      if (isSynchronous(fs)) return call(fs.sync)
      throw new VfsError('ENOTSUP', '/', {
        detail: 'this file system has no synchronous interface; use the asynchronous one',
      })
    } catch (error) {
      throw this.translateError(error)
    }
  }

  /** Bound once, because every call through the table uses it. */
  readonly #throwTranslated = (error: unknown): never => {
    throw this.translateError(error)
  }

  /** Returns the stream with its errors translated and each item mapped. */
  translateStream<T extends object>(source: AsyncIterable<T>, map?: (item: T) => T): AsyncIterable<T> {
    // Content in memory cannot fail, so it needs no wrapper.
    if (source instanceof InMemoryByteStream && map === undefined) return source
    if (source instanceof ReadyStream) {
      const translated = catchErrors(source, this.#throwTranslated)
      return map === undefined ? translated : translated.map(map)
    }
    return new TranslatedStream(source, map ?? ((item) => item), this.#throwTranslated)
  }
}

/** A stream with mapped items and translated errors. A generator in its place would cost every item two more promises. */
class TranslatedStream<T> implements AsyncIterableIterator<T> {
  readonly #source: AsyncIterator<T>
  readonly #onItem: (result: IteratorResult<T>) => IteratorResult<T>
  readonly #onError: (error: unknown) => never

  constructor(source: AsyncIterable<T>, map: (item: T) => T, onError: (error: unknown) => never) {
    this.#source = source[Symbol.asyncIterator]()
    this.#onItem = (result) => (result.done ? result : { done: false, value: map(result.value) })
    this.#onError = onError
  }

  next(): Promise<IteratorResult<T>> {
    return this.#source.next().then(this.#onItem, this.#onError)
  }

  async return(): Promise<IteratorResult<T>> {
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
