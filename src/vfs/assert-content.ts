import { VfsError } from './error.ts'
import type { Content } from './file-system.ts'

const CALL = 'pass a string, a Uint8Array or a stream of them'

/**
 * Throws EINVAL unless the value is content, whatever its declared type. An object has no length, so a copy of it would
 * have the bytes of other files.
 */
export function assertContent(value: unknown, path: string, op: string): asserts value is Content {
  if (typeof value === 'string' || value instanceof Uint8Array || isStream(value)) return
  throw new VfsError('EINVAL', path, { op, detail: `the content is ${describeValue(value)}; ${CALL}` })
}

/** Throws a TypeError unless a chunk of content is bytes. */
export function assertBytes(chunk: unknown): asserts chunk is Uint8Array {
  if (chunk instanceof Uint8Array) return
  throw new TypeError(`content has ${describeValue(chunk)} in place of bytes; ${CALL}`)
}

function isStream(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}

function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const { name } = value.constructor ?? Object
  return name === 'Object' ? 'an object' : `a value of ${name}`
}
