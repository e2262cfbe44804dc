import { isAnyArrayBuffer } from 'node:util/types'
import { encodingOf, wrongType } from './arguments.ts'
import type { Written } from './ground.ts'

/** The memory of a view: its bytes as they are in place. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

/** What was given to be written: text in an encoding, a view of bytes, or a source of such pieces. */
export function dataOf(data: unknown, options: unknown): Written {
  const piece = pieceOf(data, options)
  if (piece !== undefined) return piece
  if (isIterable(data)) return pieces(data, options)
  throw wrongType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data)
}

/** The same for what has to be in hand. */
export function bytesToWrite(data: unknown, options: unknown): Uint8Array {
  const piece = pieceOf(data, options)
  if (piece !== undefined) return piece
  throw wrongType('buffer', 'of type string or an instance of Buffer, TypedArray, or DataView', data)
}

function pieceOf(data: unknown, options: unknown): Uint8Array | undefined {
  if (typeof data === 'string') {
    const encoding = encodingOf(options)
    return Buffer.from(data, encoding === 'buffer' ? undefined : encoding)
  }
  if (ArrayBuffer.isView(data)) return bytesOf(data)
  return isAnyArrayBuffer(data) ? new Uint8Array(data) : undefined
}

async function* pieces(
  source: Iterable<unknown> | AsyncIterable<unknown>,
  options: unknown,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) yield bytesToWrite(piece, options)
}

function isIterable(data: unknown): data is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof data !== 'object' || data === null) return false
  return Symbol.asyncIterator in data || Symbol.iterator in data
}
