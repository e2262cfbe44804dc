import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import type { ReadStream, WriteStream } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import type { ReadableStream } from 'node:stream/web'
import type { FsOperation } from './fs-operation.ts'
import { createCodedError } from './node-error.ts'
import * as operations from './operations/index.ts'
import { createWebStream } from './web-stream.ts'

/** Creates Node's own streams on files of the wrapped file system. */
export interface StreamFactory {
  createReadStream(path: unknown, options?: unknown): ReadStream
  createWriteStream(path: unknown, options?: unknown): WriteStream
}

/** Runs the operations of a handle. */
export interface HandleRunner {
  run<T>(operation: FsOperation<T>, ...args: unknown[]): Promise<T>
  readonly streams: StreamFactory
}

const CLOSED_FD = -1

/** An open file, as `fs.promises.open` returns it. */
export class NodeFileHandle extends EventEmitter implements AsyncDisposable {
  readonly #runner: HandleRunner
  #fd: number
  #closing: Promise<void> | undefined
  #isLocked = false
  #resource: AsyncResource | undefined

  constructor(runner: HandleRunner, fd: number) {
    super()
    this.#runner = runner
    this.#fd = fd
  }

  /** Descriptor number; -1 once closed. */
  get fd(): number {
    return this.#fd
  }

  /** Returns the id of its asynchronous context. */
  getAsyncId(): number {
    this.#resource ??= new AsyncResource('FILEHANDLE')
    return this.#resource.asyncId()
  }

  /** Closes the file; a second call returns the first promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  read(...args: unknown[]): Promise<operations.FsReadResult> {
    return this.#runner.run(operations.read, this.#fd, ...args)
  }

  readv(buffers: unknown, position?: unknown): Promise<operations.ReadVectorResult> {
    return this.#runner.run(operations.readv, this.#fd, buffers, position)
  }

  write(data: unknown, ...args: unknown[]): Promise<operations.FsWriteResult> {
    return this.#runner.run(operations.write, this.#fd, data, ...args)
  }

  writev(buffers: unknown, position?: unknown): Promise<operations.WriteVectorResult> {
    return this.#runner.run(operations.writev, this.#fd, buffers, position)
  }

  readFile(options?: unknown): Promise<string | Buffer> {
    return this.#runner.run(operations.readFile, this.#fd, options)
  }

  writeFile(data: unknown, options?: unknown): Promise<void> {
    return this.#runner.run(operations.writeFile, this.#fd, data, options)
  }

  appendFile(data: unknown, options?: unknown): Promise<void> {
    return this.writeFile(data, options)
  }

  stat(options?: unknown): Promise<unknown> {
    return this.#runner.run(operations.fstat, this.#fd, options)
  }

  truncate(length?: unknown): Promise<void> {
    return this.#runner.run(operations.ftruncate, this.#fd, length)
  }

  chmod(mode: unknown): Promise<void> {
    return this.#runner.run(operations.fchmod, this.#fd, mode)
  }

  chown(uid: unknown, gid: unknown): Promise<void> {
    return this.#runner.run(operations.fchown, this.#fd, uid, gid)
  }

  utimes(atime: unknown, mtime: unknown): Promise<void> {
    return this.#runner.run(operations.futimes, this.#fd, atime, mtime)
  }

  sync(): Promise<void> {
    return this.#runner.run(operations.fsync, this.#fd)
  }

  datasync(): Promise<void> {
    return this.#runner.run(operations.fdatasync, this.#fd)
  }

  createReadStream(options?: object): ReadStream {
    return this.#runner.streams.createReadStream('', { ...options, fd: this })
  }

  createWriteStream(options?: object): WriteStream {
    return this.#runner.streams.createWriteStream('', { ...options, fd: this })
  }

  readLines(options?: object): Interface {
    return createInterface({ input: this.createReadStream(options), crlfDelay: Number.POSITIVE_INFINITY })
  }

  /** Streams the file once; `autoClose` closes the handle at the end. */
  readableWebStream(options: unknown = {}): ReadableStream {
    if (this.#fd === CLOSED_FD)
      throw createCodedError('ERR_INVALID_STATE', 'Invalid state: The FileHandle is closed')
    if (this.#isLocked) throw createCodedError('ERR_INVALID_STATE', 'Invalid state: The FileHandle is locked')
    this.#isLocked = true
    return createWebStream(this, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const fd = this.#fd
    this.#fd = CLOSED_FD
    await this.#runner.run(operations.close, fd)
    this.emit('close')
  }
}
