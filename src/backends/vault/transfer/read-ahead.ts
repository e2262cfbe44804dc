import { AnsweringThread, startThread } from '../../../machine/index.ts'
import type { ChunkHashes } from '../../../store/index.ts'
import type { TransferAttributes } from './transfer-attributes.ts'

/** Steps that are asked for together. Each of them may hold a directory open. */
const BATCH_STEPS = 64
/** Batches that are read ahead. */
const MAX_BATCHES = 4

/** A file that the thread has read. */
export interface ReadFile {
  readonly size: number
  readonly attributes: TransferAttributes
  readonly hashes: readonly ChunkHashes[]
}

/** Answer to a list of paths. */
export interface ReadAnswer {
  /** Contents of the files, one behind the other. */
  readonly content: Uint8Array
  /** In the order of the paths; undefined for a file that is large or could not be read. */
  readonly files: readonly (ReadFile | undefined)[]
}

/** A file with its content. */
export interface FileContent extends ReadFile {
  readonly bytes: Uint8Array
}

/** A step of an import. Without the content of its file it reads the file by itself. */
type ReadAheadStep<Result> = (content: FileContent | undefined) => Result

interface Step<Result> {
  readonly run: ReadAheadStep<Result>
  /** File that the step needs. */
  readonly path: string | undefined
}

interface Batch<Result> {
  readonly steps: readonly Step<Result>[]
  readonly answer: Promise<ReadAnswer>
}

/**
 * Steps of an import in their order. A thread reads and hashes small files for them, while the caller walks on: to open,
 * read and close a file takes as long as to store it.
 */
export class ReadAhead<Result> implements Disposable {
  readonly #thread = new AnsweringThread<readonly string[], ReadAnswer>(() =>
    startThread(import.meta.url, 'file-reader-worker', {}),
  )
  #steps: Step<Result>[] = []
  readonly #batches: Batch<Result>[] = []

  /** True if no step waits. */
  get isEmpty(): boolean {
    return this.#batches.length === 0 && this.#steps.length === 0
  }

  /** True if the caller should take steps before it adds more. */
  get isFull(): boolean {
    return this.#batches.length >= MAX_BATCHES
  }

  /** Adds a step. The path leads to its file until it is run. */
  add(run: ReadAheadStep<Result>, path?: string): void {
    this.#steps.push({ run, path })
    if (this.#steps.length === BATCH_STEPS) this.#send()
  }

  /** Takes the oldest steps once their files are read. */
  async take(): Promise<(() => Result)[]> {
    if (this.#batches.length === 0) this.#send()
    const batch = this.#batches.shift()
    return batch === undefined ? [] : bindSteps(batch.steps, await batch.answer)
  }

  [Symbol.dispose](): void {
    this.#thread.end()
  }

  #send(): void {
    const steps = this.#steps
    this.#steps = []
    const paths = steps.flatMap(({ path }) => path ?? [])
    // Without a thread, each step reads by itself.
    const answer = this.#thread.ask(paths).catch(() => ({ content: new Uint8Array(0), files: [] }))
    this.#batches.push({ steps, answer })
  }
}

function bindSteps<Result>(steps: readonly Step<Result>[], { content, files }: ReadAnswer): (() => Result)[] {
  let [index, start] = [0, 0]
  return steps.map(({ run, path }) => {
    const file = path === undefined ? undefined : files[index++]
    if (file === undefined) return () => run(undefined)
    const bytes = content.subarray(start, start + file.size)
    start += file.size
    return () => run({ ...file, bytes })
  })
}
