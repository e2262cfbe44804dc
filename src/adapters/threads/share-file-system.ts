import { MessageChannel, type MessagePort } from 'node:worker_threads'
import {
  assertFileSystem,
  type CallContext,
  type FileSystem,
  isVfsError,
  VfsError,
  type VfsErrorJson,
} from '../../vfs/index.ts'
import { awaitedFiles } from './awaited-files.ts'
import {
  type Answer,
  BEAT,
  CANCEL,
  type Cancellation,
  CELLS,
  CLOSED,
  type Request,
  type SharedCells,
  sharedCells,
  type ThreadLine,
  wake,
} from './line.ts'
import { OpenNumbers } from './open-numbers.ts'

export interface ShareOptions {
  /** Goes with every call. Who asks is decided here, not in the other thread. */
  readonly ctx?: CallContext
  /** One cell that several lines have in common, so that what cancels one cancels all. Its own when absent. */
  readonly cancelled?: SharedCells
}

/** A file system that one other thread can use, until it is closed. */
export interface SharedFileSystem extends AsyncDisposable {
  /** For that thread: `new Worker(file, { workerData: line, transferList: [line.port] })`, then `connectFileSystem`. */
  readonly line: ThreadLine
  /** Ends the call the other thread is blocked in and all that follow, each with an AbortError, until `resume`. */
  cancel(): void
  /** Has whoever waits look whether that was cancelled, by somebody else who has the cell. */
  rouse(): void
  resume(): void
  /** Lets the process end although the other thread may still ask. */
  unref(): void
  /** Closes what is open; a blocked call, and all that follow, are EIO. */
  close(): Promise<void>
}

const BEAT_MS = 1000

/** Answers another thread's calls on a file system of this one. */
export function shareFileSystem(fs: FileSystem, options: ShareOptions = {}): SharedFileSystem {
  assertFileSystem(fs, '/', 'share')
  const { port1, port2 } = new MessageChannel()
  const { cancelled = sharedCells(1) } = options
  return new AnsweringThread(fs, port1, { port: port2, cells: sharedCells(CELLS), cancelled }, options)
}

class AnsweringThread implements SharedFileSystem {
  readonly line: ThreadLine
  readonly #port: MessagePort
  readonly #ctx: CallContext
  readonly #files: OpenNumbers
  readonly #running = new Map<number, AbortController>()
  readonly #beat: NodeJS.Timeout
  #closing: Promise<void> | undefined

  constructor(fs: FileSystem, port: MessagePort, line: ThreadLine, { ctx = {} }: ShareOptions) {
    this.#port = port
    this.line = line
    this.#ctx = ctx
    this.#files = new OpenNumbers(awaitedFiles(fs))
    this.#beat = setInterval(() => Atomics.add(line.cells, BEAT, 1), BEAT_MS).unref()
    port.on('message', (message: Request | Cancellation) => this.#take(message))
    // The other thread has ended.
    port.on('close', () => void this.close())
  }

  cancel(): void {
    Atomics.store(this.line.cancelled, 0, CANCEL)
    this.rouse()
  }

  rouse(): void {
    wake(this.line.cells)
  }

  resume(): void {
    Atomics.store(this.line.cancelled, 0, 0)
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
    clearInterval(this.#beat)
    Atomics.store(this.line.cells, CLOSED, 1)
    wake(this.line.cells)
    this.#port.close()
    for (const running of this.#running.values()) running.abort()
    await this.#files.closeAll()
  }

  #take(message: Request | Cancellation): void {
    if (!('cancel' in message)) void this.#answer(message)
    else if (this.#running.has(message.cancel)) this.#running.get(message.cancel)?.abort()
    else void this.#files.giveUp(message.cancel)
  }

  async #answer(request: Request): Promise<void> {
    const { id, links } = request
    const running = new AbortController()
    const signal = this.#ctx.signal ? AbortSignal.any([this.#ctx.signal, running.signal]) : running.signal
    const ctx = { ...this.#ctx, signal, ...(links !== undefined && { links }) }
    this.#running.set(id, running)
    try {
      this.#send({ id, value: await this.#files.call(request, ctx) })
    } catch (error) {
      this.#send({ id, error: errorJson(error) })
    } finally {
      this.#running.delete(id)
    }
  }

  #send(answer: Answer): void {
    if (this.#closing !== undefined) return
    const value = 'value' in answer ? answer.value : undefined
    // A view would be sent with all of the buffer below it, which may hold more than was asked for. Not by `slice`, which
    // of a `Buffer` is a view as well.
    if (value instanceof Uint8Array) {
      const own = new Uint8Array(value)
      this.#port.postMessage({ id: answer.id, value: own }, [own.buffer])
    } else this.#port.postMessage(answer)
    wake(this.line.cells)
  }
}

function errorJson(error: unknown): VfsErrorJson {
  if (isVfsError(error)) return error.toJSON()
  const detail = error instanceof Error ? error.message : String(error)
  return new VfsError('EIO', '/', { detail }).toJSON()
}
