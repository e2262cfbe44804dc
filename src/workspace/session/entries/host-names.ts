import { isUtf8 } from 'node:buffer'
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findEntryStats } from './entry-stats.ts'

const ASCII_LIMIT = 0x80

/** A name in a directory of this machine. */
export interface HostName {
  /** Name as text. If it is not UTF-8, this is for display: no string can hold its path. */
  readonly name: string
  /** The bytes of a name that is not UTF-8. */
  readonly raw?: Buffer
}

/** Lists the names in a directory, sorted. */
export function listHostNames(directory: string): HostName[] {
  return readdirSync(directory, { encoding: 'buffer' })
    .map((raw): HostName => (isUtf8(raw) ? { name: raw.toString() } : { name: escapeBytes(raw), raw }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns the stats of a name in a directory. */
export function findStatsByName(directory: string, { name, raw }: HostName): BigIntStats | undefined {
  if (raw === undefined) return findEntryStats(join(directory, name))
  return lstatSync(Buffer.concat([Buffer.from(`${directory}/`), raw]), {
    bigint: true,
    throwIfNoEntry: false,
  })
}

function escapeBytes(raw: Buffer): string {
  return [...raw]
    .map((byte) => (byte < ASCII_LIMIT ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`))
    .join('')
}
