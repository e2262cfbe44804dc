import { assertCount, assertHandleWrite } from '../assert-handle-call.ts'
import { concatBytes } from '../bytes.ts'
import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, FileSystem, Stat, WriteOptions } from '../file-system.ts'
import { readFile } from '../helpers/file-content.ts'
import { type FileHandle, isAppendable, type OpenOptions } from '../protocols.ts'
import { PartReader } from './part-reader.ts'
import { assertBufferable, WriteBuffer, type WriteBufferStore } from './write-buffer.ts'

/** Buffered bytes behind the stored content, as long as nothing else has changed. */
interface BufferedTail {
  readonly start: number
  readonly buffer: WriteBuffer
}

/**
 * Random access on a file system that only reads and replaces files. Reads fetch their part. Writes are buffered until
 * `sync` or `close`, which store the file whole, or append if nothing else changed. Concurrent changes by others
 * survive except in the bytes written here. Calls take effect in the order they were issued.
 */
export class BufferedHandle implements FileHandle {
  readonly #fs: FileSystem
  readonly #path: string
  readonly #isWritable: boolean
  readonly #isAppending: boolean
  readonly #ctx: CallContext | undefined
  readonly #parts: PartReader
  /** The whole content, once something in the middle of it has changed. */
  #buffer: WriteBuffer | undefined
  #tail: BufferedTail | undefined
  #isClosed = false
  #lastOperation: Promise<unknown> = Promise.resolve()

  constructor(
    fs: FileSystem,
    path: string,
    { write = false, append = false }: Pick<OpenOptions, 'write' | 'append'>,
    ctx?: CallContext,
  ) {
    this.#fs = fs
    this.#path = path
    this.#isWritable = write
    this.#isAppending = append
    this.#ctx = ctx
    this.#parts = new PartReader(fs, () => path, ctx)
  }

  /** Truncates at open, whatever the access mode. */
  empty(): void {
    this.#tail = undefined
    this.#buffer = WriteBuffer.createEmpty()
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#runInOrder('read', async () => {
      assertCount(this.#path, position, 'read')
      assertCount(this.#path, length, 'read')
      if (this.#buffer !== undefined) return this.#buffer.read(position, length)
      if (this.#tail === undefined) return new Uint8Array(await this.#parts.read(position, length))
      return this.#readWithTail(this.#tail, position, length)
    })
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    const owned = new Uint8Array(bytes)
    return this.#runInOrder('write', async () => {
      this.#assertWritable('write')
      assertHandleWrite(this.#path, position, bytes)
      if (owned.length === 0) return
      if (this.#isAppending) return this.#appendToTail(owned)
      assertBufferable(this.#path, position + owned.length)
      const tail = await this.#findTail(position)
      if (tail !== undefined) tail.buffer.write(position - tail.start, owned)
      else (await this.#loadWhole()).write(position, owned)
    })
  }

  truncate(size: number): Promise<void> {
    return this.#runInOrder('truncate', async () => {
      this.#assertWritable('truncate')
      assertCount(this.#path, size, 'truncate')
      assertBufferable(this.#path, size)
      const tail = await this.#findTail(size)
      if (tail !== undefined) tail.buffer.truncate(size - tail.start)
      else if (size > 0 || this.#buffer !== undefined) (await this.#loadWhole()).truncate(size)
      else this.empty()
    })
  }

  stat(): Promise<Stat> {
    return this.#runInOrder('stat', async () => {
      const stat = await this.#fs.stat(this.#path, this.#ctx)
      const size = this.#tail === undefined ? this.#buffer?.size : this.#tail.start + this.#tail.buffer.size
      if (size === undefined) return stat
      const isDirty = this.#tail !== undefined || this.#buffer?.isDirty === true
      return { ...stat, size, ...(isDirty && { mtime: new Date() }) }
    })
  }

  sync(): Promise<void> {
    return this.#runInOrder('sync', () => this.#store())
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const stored = this.#runInOrder('close', () => this.#store())
    this.#isClosed = true
    try {
      await stored
    } finally {
      await this.#parts.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #runInOrder<T>(op: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) {
      return Promise.reject(
        new VfsError('EBADF', this.#path, { op, detail: 'the handle is closed; open the file again' }),
      )
    }
    const done = this.#lastOperation.then(work)
    this.#lastOperation = done.catch(() => {})
    return done
  }

  /** Buffers bytes for the end of the file, wherever that is at store time. */
  async #appendToTail(bytes: Uint8Array): Promise<void> {
    const tail = await this.#findTail(Number.POSITIVE_INFINITY)
    const buffer = tail?.buffer ?? (await this.#loadWhole())
    buffer.append(bytes)
  }

  /** Returns the tail if a change at this position touches nothing before it. */
  async #findTail(position: number): Promise<BufferedTail | undefined> {
    if (this.#buffer !== undefined || !isAppendable(this.#fs)) return undefined
    if (this.#tail !== undefined) return position >= this.#tail.start ? this.#tail : undefined
    const { size } = await this.#fs.stat(this.#path, this.#ctx)
    if (position < size) return undefined
    this.#tail = { start: size, buffer: WriteBuffer.createEmpty() }
    return this.#tail
  }

  async #readWithTail(
    { start, buffer }: BufferedTail,
    position: number,
    length: number,
  ): Promise<Uint8Array> {
    const stored = Math.max(0, Math.min(length, start - position))
    const head = stored === 0 ? new Uint8Array(0) : await this.#parts.read(position, stored)
    const rest = buffer.read(Math.max(0, position - start), length - stored)
    return new Uint8Array(concatBytes([head, rest]))
  }

  /** Returns a buffer of the whole content with the pending changes applied. */
  async #loadWhole(): Promise<WriteBuffer> {
    if (this.#buffer !== undefined) return this.#buffer
    const buffer = WriteBuffer.from(new Uint8Array(await readFile(this.#fs, this.#path, {}, this.#ctx)))
    await this.#parts.close()
    const tail = this.#tail
    if (tail !== undefined) {
      const more = tail.buffer.read(0, tail.buffer.size)
      if (this.#isAppending) buffer.append(more)
      else buffer.write(tail.start, more)
      this.#tail = undefined
    }
    this.#buffer = buffer
    return buffer
  }

  async #store(): Promise<void> {
    if (this.#tail !== undefined && (await this.#append(this.#tail))) return
    const buffer = this.#tail === undefined ? this.#buffer : await this.#loadWhole()
    await buffer?.store(this.#createStore())
    await this.#parts.close()
  }

  /** Appends the tail. Returns false if the file's end has moved meanwhile. */
  async #append({ start, buffer }: BufferedTail): Promise<boolean> {
    if (!isAppendable(this.#fs)) return false
    if (!this.#isAppending && (await this.#fs.stat(this.#path, this.#ctx)).size !== start) return false
    if (buffer.size > 0) await this.#fs.append(this.#path, buffer.read(0, buffer.size), this.#ctx)
    this.#tail = undefined
    await this.#parts.close()
    return true
  }

  #createStore(): WriteBufferStore {
    return {
      write: (content, ifMatch) => {
        const options: WriteOptions = { parents: false, ...(ifMatch !== undefined && { ifMatch }) }
        return this.#fs.write(this.#path, content, options, this.#ctx)
      },
      read: () => this.#readStored(),
    }
  }

  /** Copies the content: some file systems return their own memory, and a buffer is changed in place. */
  async #readStored(): Promise<Uint8Array | null> {
    try {
      return new Uint8Array(await readFile(this.#fs, this.#path, {}, this.#ctx))
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return null
      throw error
    }
  }

  #assertWritable(op: string): void {
    if (this.#isWritable) return
    throw new VfsError('EBADF', this.#path, {
      op,
      detail: 'the file is open for reading only; open it with write: true',
    })
  }
}
