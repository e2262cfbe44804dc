import { availableParallelism } from 'node:os'
import { AnsweringThread, startThread } from '../../../machine/index.ts'
import { hostError } from './host-fault.ts'
import type { TransferAttributes } from './transfer-attributes.ts'

const BATCH_BYTES = 512 * 1024
const BATCH_FILES = 128
/** Batches that wait for a thread before the caller writes by itself. */
const MOST_WAITING = 4
const MAX_THREADS = 4

/** Files to write. Their contents follow each other. */
export interface FileBatch {
  readonly paths: readonly string[]
  readonly sizes: readonly number[]
  readonly attributes: readonly TransferAttributes[]
  readonly content: Uint8Array
}

/** The file that could not be written, and the error of the system. */
export interface FileBatchFailure {
  readonly path: string
  /** Members of the error: a message between threads keeps none but the text. */
  readonly error: { readonly message: string }
}

interface WriterThread {
  readonly thread: AnsweringThread<FileBatch, FileBatchFailure | undefined>
  waiting: number
}

/**
 * Writes small files of a new tree in threads, while the caller reads more: to create a file takes the system longer than
 * the store takes to read it. Files are addressed by their paths, so nobody else may change the tree meanwhile.
 */
export class FileWriters implements Disposable {
  readonly #threads: readonly WriterThread[]
  #paths: string[] = []
  #sizes: number[] = []
  #attributes: TransferAttributes[] = []
  #content = new Uint8Array(BATCH_BYTES)
  #length = 0
  /** The first failure, which the next call throws. */
  #failure: { readonly error: unknown } | undefined

  constructor() {
    // One core is for the caller.
    const count = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
    this.#threads = Array.from({ length: count }, () => ({
      thread: new AnsweringThread(() => startThread(import.meta.url, 'file-writer-worker', {})),
      waiting: 0,
    }))
  }

  /** Takes a file to write. Returns false if the caller is to write it: it is large, or all threads are busy. */
  add(path: string, chunks: readonly Uint8Array[], attributes: TransferAttributes): boolean {
    this.#throwFailure()
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    if (size > BATCH_BYTES) return false
    if (this.#length + size > BATCH_BYTES || this.#paths.length === BATCH_FILES) {
      const free = this.#findThread()
      if (free === undefined) return false
      this.#send(free)
    }
    for (const chunk of chunks) {
      this.#content.set(chunk, this.#length)
      this.#length += chunk.length
    }
    this.#paths.push(path)
    this.#sizes.push(size)
    this.#attributes.push(attributes)
    return true
  }

  /** Waits until all files are written. Throws as the system did, with the path. */
  async finish(): Promise<void> {
    const [first] = this.#threads.toSorted((one, other) => one.waiting - other.waiting)
    if (first !== undefined && this.#paths.length > 0) this.#send(first)
    // The threads answer in order, so the last answer is that of an empty batch.
    const empty = { paths: [], sizes: [], attributes: [], content: new Uint8Array() }
    await Promise.all(
      this.#threads.filter(({ waiting }) => waiting > 0).map(({ thread }) => thread.ask(empty)),
    )
    this.#throwFailure()
  }

  [Symbol.dispose](): void {
    for (const { thread } of this.#threads) thread.end()
  }

  #findThread(): WriterThread | undefined {
    return this.#threads.find(({ waiting }) => waiting < MOST_WAITING)
  }

  #send(writer: WriterThread): void {
    const content = this.#content.subarray(0, this.#length)
    const batch = { paths: this.#paths, sizes: this.#sizes, attributes: this.#attributes, content }
    writer.waiting++
    writer.thread.ask(batch, [content.buffer]).then(
      (failure) => {
        writer.waiting--
        if (failure !== undefined) this.#failure ??= { error: toHostError(failure) }
      },
      (error: unknown) => {
        this.#failure ??= { error }
      },
    )
    this.#paths = []
    this.#sizes = []
    this.#attributes = []
    this.#content = new Uint8Array(BATCH_BYTES)
    this.#length = 0
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

function toHostError({ path, error: { message, ...members } }: FileBatchFailure): unknown {
  return hostError(Object.assign(new Error(message), members), path, 'export')
}
