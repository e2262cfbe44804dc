import { AnsweringThread, startThread } from '../../machine/index.ts'
import type { MaybePromise } from '../engine.ts'
import { BlockBuilder, type IndexBlock, MAX_INDEXED_BYTES } from './block-builder.ts'

const BATCH_BYTES = 1024 * 1024
const BATCH_DOCUMENTS = 4096
/** Number of batches that wait for the thread before files wait too. */
const MOST_WAITING = 8
/** Size of a document that every search reads. */
const UNINDEXED_SIZE = -1

/** Files to index. The content of those that have a size follow each other. */
export interface BlockRequest {
  readonly inodes: readonly number[]
  readonly sizes: readonly number[]
  readonly content: Uint8Array
  /** True to answer with the last block, whether or not it is full. */
  readonly isLast: boolean
}

const NO_BLOCKS: readonly IndexBlock[] = []

/** Adds files to a builder, and returns the blocks that they filled. */
export function buildBlocks(builder: BlockBuilder, request: BlockRequest): IndexBlock[] {
  const { inodes, sizes, content, isLast } = request
  const blocks: IndexBlock[] = []
  let start = 0
  for (const [index, inode] of inodes.entries()) {
    const size = sizes[index] ?? UNINDEXED_SIZE
    builder.add(inode, size === UNINDEXED_SIZE ? undefined : content.subarray(start, start + size))
    start += Math.max(size, 0)
    if (builder.isFull) blocks.push(builder.takeBlock())
  }
  if (isLast && builder.documents > 0) blocks.push(builder.takeBlock())
  return blocks
}

/** Collects files into blocks in a thread, while this one reads more files. A few files are collected here. */
export class BlockThread {
  readonly #thread = new AnsweringThread<BlockRequest, readonly IndexBlock[]>(() =>
    startThread(import.meta.url, 'block-worker', {}),
  )
  /** Answers of the thread that nobody took, the oldest first. */
  readonly #answers: Promise<readonly IndexBlock[]>[] = []
  #hasThread = false
  #inodes: number[] = []
  #sizes: number[] = []
  #content = allocateBatch(BATCH_BYTES)
  #length = 0

  /**
   * Adds a file; without bytes, or if it is too large, every search reads it. Returns full blocks, in the order of
   * their files. Rejects if there is no thread.
   */
  add(inode: number, bytes: Uint8Array | undefined): MaybePromise<readonly IndexBlock[]> {
    const indexed = bytes !== undefined && bytes.length <= MAX_INDEXED_BYTES ? bytes : undefined
    const size = indexed?.length ?? 0
    const isFull = this.#length + size > this.#content.length || this.#inodes.length === BATCH_DOCUMENTS
    if (isFull) this.#send(false, size)
    if (indexed !== undefined) this.#content.set(indexed, this.#length)
    this.#length += size
    this.#inodes.push(inode)
    this.#sizes.push(indexed === undefined ? UNINDEXED_SIZE : size)
    return this.#answers.length > MOST_WAITING ? (this.#answers.shift() ?? NO_BLOCKS) : NO_BLOCKS
  }

  /** Returns all blocks that were not returned yet, the last one as it is. Rejects if there is no thread. */
  async finish(): Promise<readonly IndexBlock[]> {
    // To start a thread for a single batch would take longer.
    if (!this.#hasThread) return buildBlocks(new BlockBuilder(), this.#takeBatch(true))
    this.#send(true, 0)
    return (await Promise.all(this.#answers.splice(0))).flat()
  }

  end(): void {
    this.#thread.end()
  }

  /** Sends the files so far, and begins a batch with room for a file. */
  #send(isLast: boolean, size: number): void {
    const { buffer } = this.#content
    this.#hasThread = true
    const answer = this.#thread.ask(this.#takeBatch(isLast), [buffer])
    // Nobody may wait for it any more when the thread ends.
    answer.catch(() => undefined)
    this.#answers.push(answer)
    this.#inodes = []
    this.#sizes = []
    this.#content = allocateBatch(Math.max(BATCH_BYTES, size))
    this.#length = 0
  }

  #takeBatch(isLast: boolean): BlockRequest {
    const content = this.#content.subarray(0, this.#length)
    return { inodes: this.#inodes, sizes: this.#sizes, content, isLast }
  }
}

/** Allocates memory of its own, which can be handed to a thread. */
function allocateBatch(bytes: number): Uint8Array<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(bytes)
}
