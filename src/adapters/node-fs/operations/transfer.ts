import { countOf, outOfRange, positionOf, setting, wrongType } from '../arguments.ts'
import { bytesOf, bytesToWrite } from '../data.ts'
import { type Operation, onFile } from '../operation.ts'
import type { Steps } from '../steps.ts'

const DEFAULT_BUFFER_BYTES = 16 * 1024

export interface ReadResult {
  readonly bytesRead: number
  readonly buffer: ArrayBufferView
}

export interface WriteResult {
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

/** Part of a buffer, and where in the file it belongs. */
interface Span {
  readonly buffer: ArrayBufferView
  readonly bytes: Uint8Array
  readonly position: number | null
}

/** `read(fd, buffer, offset, length, position)`, `read(fd, buffer, options)` or `read(fd, options)`. */
export const read: Operation<ReadResult> = onFile('read', function* (_site, file, ...args) {
  const { buffer, bytes, position } = readSpan(args)
  if (bytes.length === 0) return { bytesRead: 0, buffer }
  const found = yield* file.read(bytes.length, position)
  bytes.set(found)
  return { bytesRead: found.length, buffer }
})

/** `write(fd, buffer, offset, length, position)`, `write(fd, buffer, options)` or `write(fd, text, position, encoding)`. */
export const write: Operation<WriteResult> = onFile('write', function* (_site, file, data, ...args) {
  if (typeof data === 'string') {
    const [position, encoding] = args
    const bytes = bytesToWrite(data, encoding)
    yield* file.write(bytes, positionOf(position))
    return { bytesWritten: bytes.length, buffer: data }
  }
  if (!ArrayBuffer.isView(data)) throw wrongType('buffer', 'of type string or an instance of Buffer', data)
  const { bytes, position } = spanOf(data, args)
  yield* file.write(bytes, position)
  return { bytesWritten: bytes.length, buffer: data }
})

export const readv: Operation<ReadVectorResult> = onFile('read', function* (_site, file, given, position) {
  const buffers = viewsOf(given)
  let at = positionOf(position)
  let bytesRead = 0
  for (const bytes of buffers.map(bytesOf)) {
    const found: Uint8Array = yield* file.read(bytes.length, at)
    bytes.set(found)
    bytesRead += found.length
    if (at !== null) at += found.length
    if (found.length < bytes.length) break
  }
  return { bytesRead, buffers }
})

/** In one piece, so that nobody sees a part of it. */
export const writev: Operation<WriteVectorResult> = onFile('write', function* (_site, file, given, position) {
  const buffers = viewsOf(given)
  const whole = Buffer.concat(buffers.map(bytesOf))
  yield* file.write(whole, positionOf(position))
  return { bytesWritten: whole.length, buffers }
})

export const ftruncate: Operation<void> = onFile('ftruncate', function* (_site, file, length): Steps<void> {
  yield* file.truncate(countOf(length, 'len', 0))
})

export const fsync: Operation<void> = onFile('fsync', function* (_site, file): Steps<void> {
  yield* file.sync()
})

export const fdatasync: Operation<void> = onFile('fdatasync', function* (_site, file): Steps<void> {
  yield* file.sync()
})

function readSpan([first, ...rest]: unknown[]): Span {
  if (ArrayBuffer.isView(first)) return spanOf(first, rest)
  const buffer = setting(first, 'buffer') ?? Buffer.alloc(DEFAULT_BUFFER_BYTES)
  if (!ArrayBuffer.isView(buffer)) throw wrongType('buffer', 'an instance of Buffer', buffer)
  return spanOf(buffer, [first])
}

function spanOf(buffer: ArrayBufferView, args: readonly unknown[]): Span {
  const [first, length, position] = args
  const isNamed = typeof first === 'object' && first !== null
  const asked = isNamed
    ? [setting(first, 'offset'), setting(first, 'length'), setting(first, 'position')]
    : [first, length, position]
  const start = countOf(asked[0], 'offset', 0)
  if (start > buffer.byteLength) throw outOfRange('offset', start)
  const count = countOf(asked[1], 'length', buffer.byteLength - start)
  if (count > buffer.byteLength - start) throw outOfRange('length', count)
  return { buffer, bytes: bytesOf(buffer).subarray(start, start + count), position: positionOf(asked[2]) }
}

function viewsOf(given: unknown): ArrayBufferView[] {
  if (Array.isArray(given) && given.every((view) => ArrayBuffer.isView(view))) return given
  throw wrongType('buffers', 'an instance of ArrayBufferView[]', given)
}
