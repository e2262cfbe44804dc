import { statSync } from 'node:fs'
import { createDamagedStoreError } from '../engine-errors.ts'
import { LmdbFile } from './lmdb-file.ts'

/** Number of pages that every open checks: it takes some ten milliseconds. */
const PAGES_CHECKED_ON_OPEN = 1000
const MAX_TRIES = 3

/**
 * Throws EIO if the file is truncated or pages of its tables are damaged: the library would end the process.
 * @param isSuspect checks all pages, not only the first ones.
 */
export function assertIntact(file: string, isSuspect: boolean): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const [first] = findDamage(file, isSuspect ? undefined : PAGES_CHECKED_ON_OPEN)
  if (first !== undefined) throw createDamagedStoreError(file, first)
}

/** Lists the damage in a data file. Checks at most `maxPages` pages, unless the file may be truncated. */
export function findDamage(path: string, maxPages: number = Number.POSITIVE_INFINITY): readonly string[] {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    using file = new LmdbFile(path, maxPages)
    file.checkAllPages()
    if (file.damage.length === 0 || !file.isOutdated) return file.damage
  }
  return []
}
