import { isAnyArrayBuffer } from 'node:util/types'
import type { FileSource } from './fs-driver.ts'
import { createArgumentTypeError, parseEncoding } from './parse-arguments.ts'

/** Returns the bytes of a view without copying. */
export function viewBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

/** Converts data to write: text in an encoding, a view of bytes, or an iterable of these. */
export function toFileSource(data: unknown, options: unknown): FileSource {
  const piece = toBytes(data, options)
  if (piece !== undefined) return piece
  if (isIterable(data)) return toPieces(data, options)
  throw createArgumentTypeError(
    'data',
    'of type string or an instance of Buffer, TypedArray, or DataView',
    data,
  )
}

/** Like `toFileSource`, but refuses iterables. */
export function requireBytes(data: unknown, options: unknown): Uint8Array {
  const piece = toBytes(data, options)
  if (piece !== undefined) return piece
  throw createArgumentTypeError(
    'buffer',
    'of type string or an instance of Buffer, TypedArray, or DataView',
    data,
  )
}

function toBytes(data: unknown, options: unknown): Uint8Array | undefined {
  if (typeof data === 'string') {
    const encoding = parseEncoding(options)
    return Buffer.from(data, encoding === 'buffer' ? undefined : encoding)
  }
  if (ArrayBuffer.isView(data)) return viewBytes(data)
  return isAnyArrayBuffer(data) ? new Uint8Array(data) : undefined
}

async function* toPieces(
  source: Iterable<unknown> | AsyncIterable<unknown>,
  options: unknown,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) yield requireBytes(piece, options)
}

function isIterable(data: unknown): data is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof data !== 'object' || data === null) return false
  return Symbol.asyncIterator in data || Symbol.iterator in data
}
