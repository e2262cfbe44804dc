import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import type { ReadStream, WriteStream } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import type { ReadableStream } from 'node:stream/web'
import { codedError } from './node-error.ts'
import type { Operation } from './operation.ts'
import * as operations from './operations/index.ts'
import { webStreamOf } from './web-stream.ts'

/** Makes Node's own streams, on files of ours. */
export interface Streams {
  createReadStream(path: unknown, options?: unknown): ReadStream
  createWriteStream(path: unknown, options?: unknown): WriteStream
}

/** What a handle does its work with. */
export interface HandleWork {
  run<T>(operation: Operation<T>, ...args: unknown[]): Promise<T>
  readonly streams: Streams
}

const CLOSED = -1

/** An open file, as `fs.promises.open` gives it. */
export class FileHandle extends EventEmitter implements AsyncDisposable {
  readonly #work: HandleWork
  #fd: number
  #closing: Promise<void> | undefined
  #isLocked = false
  #resource: AsyncResource | undefined

  constructor(work: HandleWork, fd: number) {
    super()
    this.#work = work
    this.#fd = fd
  }

  /** The number other calls take for it; -1 once it is closed. */
  get fd(): number {
    return this.#fd
  }

  /** The number its asynchronous work is known by. */
  getAsyncId(): number {
    this.#resource ??= new AsyncResource('FILEHANDLE')
    return this.#resource.asyncId()
  }

  /** Closes it; a second time, that is the first one's answer. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  read(...args: unknown[]): Promise<operations.ReadResult> {
    return this.#work.run(operations.read, this.#fd, ...args)
  }

  readv(buffers: unknown, position?: unknown): Promise<operations.ReadVectorResult> {
    return this.#work.run(operations.readv, this.#fd, buffers, position)
  }

  write(data: unknown, ...args: unknown[]): Promise<operations.WriteResult> {
    return this.#work.run(operations.write, this.#fd, data, ...args)
  }

  writev(buffers: unknown, position?: unknown): Promise<operations.WriteVectorResult> {
    return this.#work.run(operations.writev, this.#fd, buffers, position)
  }

  readFile(options?: unknown): Promise<string | Buffer> {
    return this.#work.run(operations.readFile, this.#fd, options)
  }

  writeFile(data: unknown, options?: unknown): Promise<void> {
    return this.#work.run(operations.writeFile, this.#fd, data, options)
  }

  appendFile(data: unknown, options?: unknown): Promise<void> {
    return this.writeFile(data, options)
  }

  stat(options?: unknown): Promise<unknown> {
    return this.#work.run(operations.fstat, this.#fd, options)
  }

  truncate(length?: unknown): Promise<void> {
    return this.#work.run(operations.ftruncate, this.#fd, length)
  }

  chmod(mode: unknown): Promise<void> {
    return this.#work.run(operations.fchmod, this.#fd, mode)
  }

  chown(uid: unknown, gid: unknown): Promise<void> {
    return this.#work.run(operations.fchown, this.#fd, uid, gid)
  }

  utimes(atime: unknown, mtime: unknown): Promise<void> {
    return this.#work.run(operations.futimes, this.#fd, atime, mtime)
  }

  sync(): Promise<void> {
    return this.#work.run(operations.fsync, this.#fd)
  }

  datasync(): Promise<void> {
    return this.#work.run(operations.fdatasync, this.#fd)
  }

  createReadStream(options?: object): ReadStream {
    return this.#work.streams.createReadStream('', { ...options, fd: this })
  }

  createWriteStream(options?: object): WriteStream {
    return this.#work.streams.createWriteStream('', { ...options, fd: this })
  }

  readLines(options?: object): Interface {
    return createInterface({ input: this.createReadStream(options), crlfDelay: Number.POSITIVE_INFINITY })
  }

  /** The bytes of the file, once; `autoClose` closes the handle at their end. */
  readableWebStream(options: unknown = {}): ReadableStream {
    if (this.#fd === CLOSED) throw codedError('ERR_INVALID_STATE', 'Invalid state: The FileHandle is closed')
    if (this.#isLocked) throw codedError('ERR_INVALID_STATE', 'Invalid state: The FileHandle is locked')
    this.#isLocked = true
    return webStreamOf(this, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const fd = this.#fd
    this.#fd = CLOSED
    await this.#work.run(operations.close, fd)
    this.emit('close')
  }
}
