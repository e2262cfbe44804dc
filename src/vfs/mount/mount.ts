import { isVfsError, VfsError } from '../error.ts'
import type { Content, FileSystem } from '../file-system.ts'
import type { Identity } from '../protocols.ts'
import { BytesInHand, ReadyStream } from '../streams.ts'
import { isSynchronous, type SyncFileSystem } from '../sync-file-system.ts'

/** So many mounts of one table have numbers of files that never meet. */
const MOST_NUMBERED = 1024

/** One file system at its place in a namespace. */
export class Mount {
  /** The mount point. */
  readonly path: string
  readonly fs: FileSystem
  /** What the mount point adds in front of a path of its own; nothing for a mount at the root. */
  readonly prefix: string
  /** Which of its table's mounts it is. */
  readonly number: number
  /** Failures of content on its way in: they come from elsewhere, and are told as they are. */
  readonly #foreign = new WeakSet<Error>()

  constructor(path: string, fs: FileSystem, number: number) {
    this.path = path
    this.fs = fs
    this.number = number
    this.prefix = path === '/' ? '' : path
  }

  /** The number of a file among those of all mounts. Multiplied, not added to, so that tables nest. */
  static inoOf(ino: number, mount: number): number {
    return ino * MOST_NUMBERED + (mount % MOST_NUMBERED)
  }

  /** What is told of which file it is, as the namespace knows it. */
  identified<T extends Identity>(found: T): T {
    return { ...found, ino: Mount.inoOf(found.ino, this.number) }
  }

  /** A path of the namespace, as the mounted file system knows it. */
  inner(path: string): string {
    return this.prefix === '' ? path : path.slice(this.prefix.length) || '/'
  }

  /** A path of the mounted file system, as the namespace knows it. */
  outer(path: string): string {
    return path === '/' ? this.path : this.prefix + path
  }

  /** The same failure, told in the user's namespace. */
  translate(error: unknown): unknown {
    if (!isVfsError(error) || this.#foreign.has(error)) return error
    return new VfsError(error.code, this.outer(error.path), {
      mount: error.mount === undefined ? this.path : this.outer(error.mount),
      ...(error.op !== undefined && { op: error.op }),
      ...(error.detail !== undefined && { detail: error.detail }),
      cause: error,
    })
  }

  /** Content to be stored here, whose own failures are not taken for those of this file system. */
  incoming(content: Content): Content {
    return typeof content === 'string' || content instanceof Uint8Array ? content : this.#marked(content)
  }

  async *#marked<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* source
    } catch (error) {
      if (isVfsError(error)) this.#foreign.add(error)
      throw error
    }
  }

  /** The answer of the mounted file system, its failure translated. */
  ask<T>(call: (fs: FileSystem) => Promise<T>): Promise<T> {
    try {
      return call(this.fs).catch(this.#fail)
    } catch (error) {
      return Promise.reject(this.translate(error))
    }
  }

  /** As `ask`, of its synchronous face. */
  askNow<T>(call: (sync: SyncFileSystem) => T): T {
    const { fs } = this
    try {
      if (isSynchronous(fs)) return call(fs.sync)
      throw new VfsError('ENOTSUP', '/', { detail: 'this file system cannot be used without waiting' })
    } catch (error) {
      throw this.translate(error)
    }
  }

  /** Bound once: every call that crosses the table passes it on. */
  readonly #fail = (error: unknown): never => {
    throw this.translate(error)
  }

  /** A stream of the mounted file system, its failure translated, each item mapped. */
  stream<T extends object>(source: AsyncIterable<T>, map?: (item: T) => T): AsyncIterable<T> {
    // What is in memory already cannot fail any more, and needs no promise in between.
    if (source instanceof BytesInHand && map === undefined) return source
    if (source instanceof ReadyStream) return map === undefined ? source : source.map(map)
    return new TranslatedStream(source, map ?? ((item) => item), (error) => this.translate(error))
  }
}

/** Hand-written for speed: a generator in between would cost every item two more promises. */
class TranslatedStream<T> implements AsyncIterableIterator<T> {
  readonly #source: AsyncIterator<T>
  readonly #onItem: (result: IteratorResult<T>) => IteratorResult<T>
  readonly #onError: (error: unknown) => never

  constructor(source: AsyncIterable<T>, map: (item: T) => T, translate: (error: unknown) => unknown) {
    this.#source = source[Symbol.asyncIterator]()
    this.#onItem = (result) => (result.done ? result : { done: false, value: map(result.value) })
    this.#onError = (error) => {
      throw translate(error)
    }
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
