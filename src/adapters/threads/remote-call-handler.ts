import { type CallContext, VfsError } from '../../vfs/index.ts'
import type { AwaitableFile } from './awaitable-file.ts'
import type { AwaitableFileSystem } from './awaitable-file-system.ts'
import type { RemoteCallName, RemoteCalls, ThreadRequest } from './thread-channel.ts'

/** Identity and context of a call. */
interface CallInfo {
  readonly id: number
  readonly ctx: CallContext
}

type Handlers = {
  [Name in RemoteCallName]: (
    call: CallInfo,
    ...args: Parameters<RemoteCalls[Name]>
  ) => ReturnType<RemoteCalls[Name]> | Promise<ReturnType<RemoteCalls[Name]>>
}

/**
 * Runs another thread's calls. Handles cannot leave their thread, so an open file is known by the number of
 * the call that opened it.
 */
export class RemoteCallHandler {
  readonly #openFiles = new Map<number, AwaitableFile>()
  readonly #handlers: Handlers

  constructor(files: AwaitableFileSystem) {
    this.#handlers = this.#createHandlers(files)
  }

  call<Name extends RemoteCallName>(
    request: ThreadRequest<Name>,
    ctx: CallContext,
  ): ReturnType<RemoteCalls[Name]> | Promise<ReturnType<RemoteCalls[Name]>> {
    return this.#handlers[request.name]({ id: request.id, ctx }, ...request.args)
  }

  /** Closes the file of a call that was cancelled after its response. */
  async abandon(id: number): Promise<void> {
    const file = this.#openFiles.get(id)
    this.#openFiles.delete(id)
    try {
      await file?.close()
    } catch {
      // No caller is left to receive the error.
    }
  }

  /** Closes all files the other thread left open. No caller is left to receive errors. */
  async closeAll(): Promise<void> {
    const files = [...this.#openFiles.values()]
    this.#openFiles.clear()
    await Promise.allSettled(files.map(async (file) => file.close()))
  }

  #createHandlers(files: AwaitableFileSystem): Handlers {
    return {
      stat: ({ ctx }, path) => files.stat(path, ctx),
      readdir: ({ ctx }, path) => files.readdir(path, ctx),
      mkdir: ({ ctx }, path, options) => files.mkdir(path, options, ctx),
      remove: ({ ctx }, path, options) => files.remove(path, options, ctx),
      rmdir: ({ ctx }, path) => files.rmdir(path, ctx),
      rename: ({ ctx }, from, to, options) => files.rename(from, to, options, ctx),
      symlink: ({ ctx }, target, path) => files.symlink(target, path, ctx),
      readlink: ({ ctx }, path) => files.readlink(path, ctx),
      realpath: ({ ctx }, path, options) => files.realpath(path, options, ctx),
      link: ({ ctx }, existing, path) => files.link(existing, path, ctx),
      setattr: ({ ctx }, path, changes) => files.setattr(path, changes, ctx),
      open: async (call, path, options) => this.#register(call, await files.open(path, options, call.ctx)),
      readOpen: (_, file, position, length) => this.#getFile(file).read(position, length),
      writeOpen: (_, file, position, bytes) => this.#getFile(file).write(position, bytes),
      truncateOpen: (_, file, size) => this.#getFile(file).truncate(size),
      statOpen: (_, file) => this.#getFile(file).stat(),
      syncOpen: (_, file) => this.#getFile(file).sync(),
      closeOpen: (_, file) => this.#remove(file).close(),
    }
  }

  /** Registers an open file, or closes it if the call was cancelled meanwhile. */
  async #register({ id, ctx: { signal } }: CallInfo, file: AwaitableFile): Promise<number> {
    if (signal?.aborted) await file.close()
    signal?.throwIfAborted()
    this.#openFiles.set(id, file)
    return id
  }

  #remove(number: number): AwaitableFile {
    const file = this.#getFile(number)
    this.#openFiles.delete(number)
    return file
  }

  #getFile(number: number): AwaitableFile {
    const file = this.#openFiles.get(number)
    if (file === undefined)
      throw new VfsError('EBADF', '/', { detail: `no open file has the number ${number}` })
    return file
  }
}
