import type { Coroutine } from '../coroutine.ts'
import { defineFileOperation, type FsOperation } from '../fs-operation.ts'
import {
  createArgumentTypeError,
  createRangeError,
  getOption,
  parseCount,
  parsePosition,
} from '../parse-arguments.ts'
import { requireBytes, viewBytes } from '../write-data.ts'

const DEFAULT_BUFFER_BYTES = 16 * 1024

export interface FsReadResult {
  readonly bytesRead: number
  readonly buffer: ArrayBufferView
}

export interface FsWriteResult {
  readonly bytesWritten: number
  readonly buffer: unknown
}

export interface ReadVectorResult {
  readonly bytesRead: number
  readonly buffers: readonly ArrayBufferView[]
}

export interface WriteVectorResult {
  readonly bytesWritten: number
  readonly buffers: readonly ArrayBufferView[]
}

/** Part of a buffer and its position in the file. */
interface Span {
  readonly buffer: ArrayBufferView
  readonly bytes: Uint8Array
  readonly position: number | null
}

/** `read(fd, buffer, offset, length, position)`, `read(fd, buffer, options)` or `read(fd, options)`. */
export const read: FsOperation<FsReadResult> = defineFileOperation(
  'read',
  function* (_context, file, ...args) {
    const { buffer, bytes, position } = parseReadSpan(args)
    if (bytes.length === 0) return { bytesRead: 0, buffer }
    const found = yield* file.read(bytes.length, position)
    bytes.set(found)
    return { bytesRead: found.length, buffer }
  },
)

/** `write(fd, buffer, offset, length, position)`, `write(fd, buffer, options)` or `write(fd, text, position, encoding)`. */
export const write: FsOperation<FsWriteResult> = defineFileOperation(
  'write',
  function* (_context, file, data, ...args) {
    if (typeof data === 'string') {
      const [position, encoding] = args
      const bytes = requireBytes(data, encoding)
      yield* file.write(bytes, parsePosition(position))
      return { bytesWritten: bytes.length, buffer: data }
    }
    if (!ArrayBuffer.isView(data))
      throw createArgumentTypeError('buffer', 'of type string or an instance of Buffer', data)
    const { bytes, position } = parseSpan(data, args)
    yield* file.write(bytes, position)
    return { bytesWritten: bytes.length, buffer: data }
  },
)

export const readv: FsOperation<ReadVectorResult> = defineFileOperation(
  'read',
  function* (_context, file, given, position) {
    const buffers = assertViews(given)
    let offset = parsePosition(position)
    let bytesRead = 0
    for (const bytes of buffers.map(viewBytes)) {
      const found: Uint8Array = yield* file.read(bytes.length, offset)
      bytes.set(found)
      bytesRead += found.length
      if (offset !== null) offset += found.length
      if (found.length < bytes.length) break
    }
    return { bytesRead, buffers }
  },
)

/** Writes all buffers in one write, so that no reader sees a part. */
export const writev: FsOperation<WriteVectorResult> = defineFileOperation(
  'write',
  function* (_context, file, given, position) {
    const buffers = assertViews(given)
    const whole = Buffer.concat(buffers.map(viewBytes))
    yield* file.write(whole, parsePosition(position))
    return { bytesWritten: whole.length, buffers }
  },
)

export const ftruncate: FsOperation<void> = defineFileOperation(
  'ftruncate',
  function* (_context, file, length): Coroutine<void> {
    yield* file.truncate(parseCount(length, 'len', 0))
  },
)

export const fsync: FsOperation<void> = defineFileOperation(
  'fsync',
  function* (_context, file): Coroutine<void> {
    yield* file.sync()
  },
)

export const fdatasync: FsOperation<void> = defineFileOperation(
  'fdatasync',
  function* (_context, file): Coroutine<void> {
    yield* file.sync()
  },
)

function parseReadSpan([first, ...rest]: unknown[]): Span {
  if (ArrayBuffer.isView(first)) return parseSpan(first, rest)
  const buffer = getOption(first, 'buffer') ?? Buffer.alloc(DEFAULT_BUFFER_BYTES)
  if (!ArrayBuffer.isView(buffer)) throw createArgumentTypeError('buffer', 'an instance of Buffer', buffer)
  return parseSpan(buffer, [first])
}

function parseSpan(buffer: ArrayBufferView, args: readonly unknown[]): Span {
  const [first, length, position] = args
  const isNamed = typeof first === 'object' && first !== null
  const requested = isNamed
    ? [getOption(first, 'offset'), getOption(first, 'length'), getOption(first, 'position')]
    : [first, length, position]
  const start = parseCount(requested[0], 'offset', 0)
  if (start > buffer.byteLength) throw createRangeError('offset', start)
  const count = parseCount(requested[1], 'length', buffer.byteLength - start)
  if (count > buffer.byteLength - start) throw createRangeError('length', count)
  return {
    buffer,
    bytes: viewBytes(buffer).subarray(start, start + count),
    position: parsePosition(requested[2]),
  }
}

function assertViews(given: unknown): ArrayBufferView[] {
  if (Array.isArray(given) && given.every((view) => ArrayBuffer.isView(view))) return given
  throw createArgumentTypeError('buffers', 'an instance of ArrayBufferView[]', given)
}
