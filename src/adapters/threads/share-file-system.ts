import { MessageChannel, type MessagePort } from 'node:worker_threads'
import {
  assertFileSystem,
  type CallContext,
  type FileSystem,
  isVfsError,
  VfsError,
  type VfsErrorJson,
} from '../../vfs/index.ts'
import { toAwaitable } from './awaitable-file-system.ts'
import { RemoteCallHandler } from './remote-call-handler.ts'
import {
  CANCEL,
  type Cancellation,
  CELL_COUNT,
  CLOSED,
  createSharedCells,
  HEARTBEAT,
  type SharedCells,
  type ThreadChannel,
  type ThreadRequest,
  type ThreadResponse,
  wake,
} from './thread-channel.ts'

/** Options of `shareFileSystem`. */
export interface ShareOptions {
  /** Context of every call. This thread decides the caller's identity, not the other one. */
  readonly ctx?: CallContext
  /** A cell shared by several channels, so that one cancel applies to all; a new one when absent. */
  readonly cancelled?: SharedCells
}

/** A file system shared with one other thread until it is closed. */
export interface SharedFileSystem extends AsyncDisposable {
  /** For `new Worker(file, { workerData: channel, transferList: [channel.port] })`, then `connectFileSystem`. */
  readonly channel: ThreadChannel
  /** Ends the blocked call of the other thread and all later ones with an AbortError, until `resume`. */
  cancel(): void
  /** Wakes a blocked caller to check the cell after another channel cancelled it. */
  wake(): void
  /** Ends a cancel: later calls run again. */
  resume(): void
  /** Lets the process end although the other thread may still call. */
  unref(): void
  /** Closes all open files; a blocked call, and all later ones, are EIO. */
  close(): Promise<void>
}

const HEARTBEAT_MS = 1000

/** Serves another thread's calls on a file system of this one. */
export function shareFileSystem(fs: FileSystem, options: ShareOptions = {}): SharedFileSystem {
  assertFileSystem(fs, '/', 'share')
  const { port1, port2 } = new MessageChannel()
  const { cancelled = createSharedCells(1) } = options
  return new FileSystemResponder(
    fs,
    port1,
    { port: port2, cells: createSharedCells(CELL_COUNT), cancelled },
    options,
  )
}

class FileSystemResponder implements SharedFileSystem {
  readonly channel: ThreadChannel
  readonly #port: MessagePort
  readonly #ctx: CallContext
  readonly #files: RemoteCallHandler
  readonly #running = new Map<number, AbortController>()
  readonly #heartbeat: NodeJS.Timeout
  #closing: Promise<void> | undefined

  constructor(fs: FileSystem, port: MessagePort, channel: ThreadChannel, { ctx = {} }: ShareOptions) {
    this.#port = port
    this.channel = channel
    this.#ctx = ctx
    this.#files = new RemoteCallHandler(toAwaitable(fs))
    this.#heartbeat = setInterval(() => Atomics.add(channel.cells, HEARTBEAT, 1), HEARTBEAT_MS).unref()
    port.on('message', (message: ThreadRequest | Cancellation) => this.#receive(message))
    // The other thread has ended.
    port.on('close', () => void this.close())
  }

  cancel(): void {
    Atomics.store(this.channel.cancelled, 0, CANCEL)
    this.wake()
  }

  wake(): void {
    wake(this.channel.cells)
  }

  resume(): void {
    Atomics.store(this.channel.cancelled, 0, 0)
  }

  unref(): void {
    this.#port.unref()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    clearInterval(this.#heartbeat)
    Atomics.store(this.channel.cells, CLOSED, 1)
    wake(this.channel.cells)
    this.#port.close()
    for (const running of this.#running.values()) running.abort()
    await this.#files.closeAll()
  }

  #receive(message: ThreadRequest | Cancellation): void {
    if (!('cancel' in message)) void this.#handle(message)
    else if (this.#running.has(message.cancel)) this.#running.get(message.cancel)?.abort()
    else void this.#files.abandon(message.cancel)
  }

  async #handle(request: ThreadRequest): Promise<void> {
    const { id, links } = request
    const running = new AbortController()
    const signal = this.#ctx.signal ? AbortSignal.any([this.#ctx.signal, running.signal]) : running.signal
    const ctx = { ...this.#ctx, signal, ...(links !== undefined && { links }) }
    this.#running.set(id, running)
    try {
      this.#send({ id, value: await this.#files.call(request, ctx) })
    } catch (error) {
      this.#send({ id, error: toErrorJson(error) })
    } finally {
      this.#running.delete(id)
    }
  }

  #send(response: ThreadResponse): void {
    if (this.#closing !== undefined) return
    const value = 'value' in response ? response.value : undefined
    // A view would be sent with its whole buffer, which may contain more than was requested. Not `slice`, which
    // returns a view for a `Buffer`.
    if (value instanceof Uint8Array) {
      const own = new Uint8Array(value)
      this.#port.postMessage({ id: response.id, value: own }, [own.buffer])
    } else this.#port.postMessage(response)
    wake(this.channel.cells)
  }
}

function toErrorJson(error: unknown): VfsErrorJson {
  if (isVfsError(error)) return error.toJSON()
  const detail = error instanceof Error ? error.message : String(error)
  return new VfsError('EIO', '/', { detail }).toJSON()
}
