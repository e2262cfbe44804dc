import { constants } from 'node:fs'
import { inspect } from 'node:util'
import { ArgumentError } from './node-error.ts'

/** Access mode of an open file, and the effects of opening it. */
export interface OpenFlags {
  readonly read: boolean
  readonly write: boolean
  readonly append: boolean
  readonly create: boolean
  readonly exclusive: boolean
  readonly truncate: boolean
  /** ENOTDIR for anything that is no directory. */
  readonly directory: boolean
  /** ELOOP for a symbolic link. */
  readonly noFollow: boolean
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_TRUNC, O_SYNC } = constants
const { O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants

const FLAG_BITS: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  rs: O_RDONLY | O_SYNC,
  sr: O_RDONLY | O_SYNC,
  'r+': O_RDWR,
  'rs+': O_RDWR | O_SYNC,
  'sr+': O_RDWR | O_SYNC,
  w: O_TRUNC | O_CREAT | O_WRONLY,
  wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  xw: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  'w+': O_TRUNC | O_CREAT | O_RDWR,
  'wx+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  'xw+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY,
  ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  xa: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  as: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
  sa: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
  'a+': O_APPEND | O_CREAT | O_RDWR,
  'ax+': O_APPEND | O_CREAT | O_RDWR | O_EXCL,
  'xa+': O_APPEND | O_CREAT | O_RDWR | O_EXCL,
  'as+': O_APPEND | O_CREAT | O_RDWR | O_SYNC,
  'sa+': O_APPEND | O_CREAT | O_RDWR | O_SYNC,
}

/** Parses flags as Node does: letters, or the bits of `open`. */
export function parseFlags(flags: unknown, defaultFlags: string): OpenFlags {
  const chosen = flags === undefined || flags === null ? defaultFlags : flags
  const bits = typeof chosen === 'string' ? FLAG_BITS[chosen] : chosen
  if (typeof bits !== 'number') {
    throw new ArgumentError(
      'ERR_INVALID_ARG_VALUE',
      `The argument 'flags' is invalid. Received ${inspect(flags)}`,
    )
  }
  const access = bits & (O_WRONLY | O_RDWR)
  const has = (bit: number) => bit !== 0 && (bits & bit) === bit
  return {
    read: access !== O_WRONLY,
    write: access !== O_RDONLY,
    append: has(O_APPEND),
    create: has(O_CREAT),
    exclusive: has(O_CREAT) && has(O_EXCL),
    truncate: has(O_TRUNC),
    directory: has(O_DIRECTORY),
    noFollow: has(O_NOFOLLOW),
  }
}
