import { fileURLToPath } from 'node:url'
import { inspect, isDeepStrictEqual } from 'node:util'
import { ArgumentError } from './node-error.ts'

/** Returns one option of an options argument of any type. */
export function getOption(options: unknown, name: string): unknown {
  return typeof options === 'object' && options !== null ? Reflect.get(options, name) : undefined
}

export function isOptionSet(options: unknown, name: string): boolean {
  return getOption(options, name) === true
}

/** Parses a path as Node does: a string, a file: URL or bytes of UTF-8. */
export function parsePath(path: unknown, name = 'path'): string {
  const text =
    path instanceof URL ? fileURLToPath(path) : path instanceof Uint8Array ? decodeUtf8(path, name) : path
  if (typeof text !== 'string') {
    throw createArgumentTypeError(name, 'of type string or an instance of Buffer or URL', path)
  }
  if (!text.includes('\0')) return text.toWellFormed()
  throw new ArgumentError(
    'ERR_INVALID_ARG_VALUE',
    `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${inspect(path)}`,
  )
}

/** Decodes a path: the file systems have text as names. Refuses bytes that are not UTF-8. */
function decodeUtf8(bytes: Uint8Array, name: string): string {
  const text = Buffer.from(bytes).toString()
  if (isDeepStrictEqual(Buffer.from(text), Buffer.from(bytes))) return text
  throw new ArgumentError('ERR_INVALID_ARG_VALUE', `The argument '${name}' must be valid UTF-8`)
}

/** Returns the encoding of an options argument, which may be the encoding itself. */
export function parseEncoding(options: unknown): BufferEncoding | 'buffer' | undefined {
  const encoding = typeof options === 'string' ? options : getOption(options, 'encoding')
  if (encoding === undefined || encoding === null) return undefined
  if (encoding === 'buffer') return encoding
  if (typeof encoding === 'string' && Buffer.isEncoding(encoding)) return encoding
  throw new ArgumentError(
    'ERR_INVALID_ARG_VALUE',
    `The argument 'encoding' is invalid encoding. Received ${inspect(encoding)}`,
  )
}

/** Encodes a name or path in the requested encoding. */
export function encodeName(text: string, options: unknown): string | Buffer {
  const encoding = parseEncoding(options) ?? 'utf8'
  if (encoding === 'buffer') return Buffer.from(text)
  return encoding === 'utf8' || encoding === 'utf-8' ? text : Buffer.from(text).toString(encoding)
}

/** Parses permission bits: a number, or a string in octal. */
export function parseMode(mode: unknown, defaultValue: number): number {
  if (mode === undefined || mode === null) return defaultValue
  const bits = typeof mode === 'string' && /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : mode
  if (typeof bits === 'number' && Number.isInteger(bits) && bits >= 0) return bits & 0o7777
  if (typeof mode === 'number' || typeof mode === 'string') {
    throw new ArgumentError(
      'ERR_INVALID_ARG_VALUE',
      `The argument 'mode' must be a 32-bit unsigned integer or an octal string. Received ${inspect(mode)}`,
    )
  }
  throw createArgumentTypeError('mode', 'of type number', mode)
}

/** Parses a time as Node does: a Date, or seconds as a number or numeric string. */
export function parseTime(time: unknown, name: string): Date {
  const seconds = typeof time === 'string' && time.trim() !== '' ? Number(time) : time
  const date =
    time instanceof Date ? time : new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN)
  if (!Number.isNaN(date.getTime())) return date
  throw createArgumentTypeError(name, 'of type number or string or an instance of Date', time)
}

/** Parses a whole number from 0; `defaultValue` when absent. */
export function parseCount(value: unknown, name: string, defaultValue: number): number {
  if (value === undefined || value === null) return defaultValue
  const count = typeof value === 'bigint' ? Number(value) : value
  if (typeof count !== 'number') throw createArgumentTypeError(name, 'of type number', value)
  if (Number.isSafeInteger(count) && count >= 0) return count
  throw createRangeError(name, value)
}

/** Parses a position; null is the current one. */
export function parsePosition(value: unknown): number | null {
  if (value === undefined || value === null || value === -1 || value === -1n) return null
  // As in Node, a value that is no number, such as `undefined`, is the current position.
  return typeof value === 'number' || typeof value === 'bigint' ? parseCount(value, 'position', 0) : null
}

export function createRangeError(name: string, value: unknown): RangeError {
  const message = `The value of "${name}" is out of range. Received ${inspect(value)}`
  return Object.assign(new RangeError(message), { code: 'ERR_OUT_OF_RANGE' })
}

export function createArgumentTypeError(name: string, expected: string, value: unknown): ArgumentError {
  return new ArgumentError(
    'ERR_INVALID_ARG_TYPE',
    `The "${name}" argument must be ${expected}. Received ${inspect(value, { depth: 0 })}`,
  )
}
