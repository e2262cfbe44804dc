import { assertBytes } from './assert-content.ts'
import { DeferredStream } from './deferred-stream.ts'
import { VfsError } from './error.ts'
import type { Content, ReadOptions } from './file-system.ts'
import { ReadyStream } from './ready-stream.ts'
import { Slab } from './slab.ts'

const DEFAULT_CHUNK_SIZE = 64 * 1024
const NEWLINE = 10
const EMPTY = new Uint8Array(0)
const encoder = new TextEncoder()
const inputSlab = Slab.forStored()
const outputSlab = Slab.forReturned()

/** Opens a backend's content from a byte position; `length` may be Infinity. Chunks may be of any size. */
export type RangeReader = (start: number, length: number) => AsyncIterable<Uint8Array>

/**
 * Returns the stream for a backend's `read`: content cut to the byte range, then to lines, then into chunks. Bytes in
 * memory are copied chunk by chunk; a `RangeReader` is called for the needed bytes only.
 */
export function byteStream(
  source: Uint8Array | RangeReader,
  path: string,
  options: ReadOptions = {},
): AsyncIterableIterator<Uint8Array> {
  const chunkSize = options.chunkSize ?? DEFAULT_CHUNK_SIZE
  assertReadOptions(path, chunkSize, options)
  const { byteRange, lineRange } = options
  if (source instanceof Uint8Array) {
    const range = byteRange ? source.subarray(byteRange[0], byteRange[0] + byteRange[1]) : source
    return new InMemoryByteStream(lineRange ? lineSlice(range, lineRange) : range, chunkSize)
  }
  const [start, length] = byteRange ?? [0, Number.POSITIVE_INFINITY]
  const bytes = source(start, length)
  return exactChunks(lineRange ? lineStream(bytes, lineRange) : bytes, chunkSize)
}

/** Collects content into one array that the caller may keep. Bytes in memory are copied before this returns. */
export function collect(content: Content): Uint8Array | Promise<Uint8Array> {
  return typeof content === 'string' || content instanceof Uint8Array
    ? copyBytes(content)
    : collectStream(content)
}

/** Copies content that is in memory. */
export function copyBytes(content: string | Uint8Array): Uint8Array {
  if (typeof content === 'string') return encoder.encode(content)
  assertBytes(content)
  return inputSlab.copy(content)
}

/** Returns content that its caller can no longer change: bytes are copied, a stream stays a stream. */
export function copyContent(content: Content): Content {
  return content instanceof Uint8Array ? inputSlab.copy(content) : content
}

/** Converts content to a stream of byte chunks. */
export async function* contentChunks(content: Content): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') yield encoder.encode(content)
  else if (content instanceof Uint8Array) yield content
  else
    for await (const chunk of content) {
      if (typeof chunk === 'string') yield encoder.encode(chunk)
      else {
        assertBytes(chunk)
        yield chunk
      }
    }
}

/** Joins chunks into one array. A single chunk is returned as it is. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** Returns a stream that fails on its first step. A stream reports errors there, never from the call that opened it. */
export function createFailedStream<T>(error: unknown): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}

/** Ends a stream with the signal's reason at the first step after the abort, and releases the source. */
export function abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return canCheckSignal(source) ? source.until(signal) : abortableSteps(source, signal)
}

/** Returns content whose stream ends with the signal's reason at the first step after the abort. */
export function abortableContent(content: Content, signal: AbortSignal | undefined): Content {
  if (signal === undefined || typeof content === 'string' || content instanceof Uint8Array) return content
  return abortable(content, signal)
}

/** Reports whether a stream can check the signal itself, without an extra promise. */
function canCheckSignal<T>(
  source: AsyncIterable<T>,
): source is AsyncIterable<T> & { until(signal: AbortSignal): AsyncIterable<T> } {
  return (
    source instanceof ReadyStream || source instanceof DeferredStream || source instanceof InMemoryByteStream
  )
}

async function* abortableSteps<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  for await (const item of source) {
    yield item
    signal.throwIfAborted()
  }
}

/**
 * A stream of content in memory. Only an abort ends it early, and `rest` returns the whole without iterating over
 * chunks.
 */
export class InMemoryByteStream implements AsyncIterableIterator<Uint8Array> {
  readonly #bytes: Uint8Array
  readonly #chunkSize: number
  readonly #signal: AbortSignal | undefined
  #at = 0

  constructor(bytes: Uint8Array, chunkSize: number, signal?: AbortSignal) {
    this.#bytes = bytes
    this.#chunkSize = chunkSize
    this.#signal = signal
  }

  /** Returns the content, which fails with the signal's reason once the signal is aborted. */
  until(signal: AbortSignal): InMemoryByteStream {
    return new InMemoryByteStream(this.#bytes, this.#chunkSize, signal)
  }

  /** Returns a copy of the remaining bytes. */
  rest(): Uint8Array {
    this.#signal?.throwIfAborted()
    const start = this.#at
    this.#at = this.#bytes.length
    return outputSlab.copy(start === 0 ? this.#bytes : this.#bytes.subarray(start))
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#signal?.aborted) return Promise.reject(this.#signal.reason)
    const at = this.#at
    if (at >= this.#bytes.length) return Promise.resolve({ done: true, value: undefined })
    this.#at = at + this.#chunkSize
    return Promise.resolve({ done: false, value: outputSlab.copy(this.#bytes.subarray(at, this.#at)) })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#at = this.#bytes.length
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

async function collectStream(content: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) {
    // Copied at once: the source may use its buffer again.
    chunks.push(copyBytes(chunk))
  }
  return concat(chunks)
}

function assertReadOptions(path: string, chunkSize: number, { byteRange, lineRange }: ReadOptions): void {
  if (chunkSize === DEFAULT_CHUNK_SIZE && byteRange === undefined && lineRange === undefined) return
  const createError = (detail: string) => new VfsError('EINVAL', path, { op: 'read', detail })
  if (!Number.isInteger(chunkSize) || chunkSize <= 0) {
    throw createError(`chunkSize is ${chunkSize}; pass an integer above 0`)
  }
  if (byteRange && !byteRange.every((bound) => Number.isInteger(bound) && bound >= 0)) {
    throw createError(`byteRange is [${byteRange.join(', ')}]; pass two integers from 0`)
  }
  if (!lineRange) return
  const [first, last] = lineRange
  if (!Number.isInteger(first) || first < 1)
    throw createError(`lineRange starts at ${first}; pass an integer from 1`)
  if (last !== 'end' && (!Number.isInteger(last) || last < first)) {
    throw createError(`lineRange ends at ${last}; pass ${first} or more, or 'end'`)
  }
}

/** Returns the bytes of lines `first` to `last`. Only `\n` ends a line, so a `\r` before it is kept. */
function lineSlice(bytes: Uint8Array, [first, last]: readonly [number, number | 'end']): Uint8Array {
  let start = 0
  for (let line = 1; line < first; line++) {
    const newline = bytes.indexOf(NEWLINE, start)
    if (newline === -1) return bytes.subarray(bytes.length)
    start = newline + 1
  }
  if (last === 'end') return bytes.subarray(start)
  let end = start - 1
  for (let line = first; line <= last; line++) {
    const newline = bytes.indexOf(NEWLINE, end + 1)
    if (newline === -1) return bytes.subarray(start, getEndWithoutNewline(bytes))
    end = newline
  }
  return bytes.subarray(start, end)
}

function getEndWithoutNewline(bytes: Uint8Array): number {
  return bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length
}

/** Does the same on a stream, and leaves the source as soon as the last line is complete. */
async function* lineStream(
  source: AsyncIterable<Uint8Array>,
  [first, last]: readonly [number, number | 'end'],
): AsyncGenerator<Uint8Array> {
  const end = last === 'end' ? Number.POSITIVE_INFINITY : last
  let line = 1
  let heldNewline = false
  for await (const chunk of source) {
    let at = 0
    for (; line < first && at < chunk.length; line++) {
      const newline = chunk.indexOf(NEWLINE, at)
      if (newline === -1) break
      at = newline + 1
    }
    if (line < first || at === chunk.length) continue
    // Held back until more bytes follow: the newline after the last line is not part of the range.
    if (heldNewline) yield Uint8Array.of(NEWLINE)
    heldNewline = false
    let stop = at
    for (; line <= end; line++) {
      const newline = chunk.indexOf(NEWLINE, stop)
      if (newline === -1) break
      stop = newline + 1
    }
    if (line > end) {
      yield chunk.subarray(at, stop - 1)
      return
    }
    heldNewline = last !== 'end' && chunk.at(-1) === NEWLINE
    yield chunk.subarray(at, heldNewline ? chunk.length - 1 : chunk.length)
  }
}

/** Regroups chunks of any size into fresh chunks of exactly `size`, the last one excepted. */
async function* exactChunks(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let whole: Uint8Array = EMPTY
  let filled = 0
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      // Copied at once: the source may use its buffer again.
      const part = chunk.subarray(at, at + size - filled)
      whole = fillChunk(whole, filled, part, size)
      filled += part.length
      at += part.length
      if (filled < size) continue
      yield whole
      whole = EMPTY
      filled = 0
    }
  }
  if (filled > 0) yield whole.subarray(0, filled)
}

/** Adds a part to a chunk that is being filled. Allocates the full chunk once it is likely to fill up. */
function fillChunk(whole: Uint8Array, filled: number, part: Uint8Array, size: number): Uint8Array {
  if (filled === 0 && (part.length === size || part.length * 2 < size)) return outputSlab.copy(part)
  const needed = filled + part.length
  const room = needed <= whole.length ? whole : new Uint8Array(Math.min(size, needed * 2))
  if (room !== whole) room.set(whole.subarray(0, filled))
  room.set(part, filled)
  return room
}
