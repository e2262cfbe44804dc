import { statSync } from 'node:fs'
import { createDamagedStoreError } from './engine-errors.ts'
import { LmdbFile } from './lmdb-file.ts'

/** How many pages are looked at whenever a store is opened: some ten milliseconds. */
const PAGES_CHECKED_ON_OPEN = 1000
const MAX_TRIES = 3

/**
 * EIO if the file is cut off, or pages of its tables are damaged: the library would end the process.
 * @param isSuspect looks at all pages, not at the first ones alone.
 */
export function assertIntact(file: string, isSuspect: boolean): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const [first] = findDamage(file, isSuspect ? undefined : PAGES_CHECKED_ON_OPEN)
  if (first !== undefined) throw createDamagedStoreError(file, first)
}

/** What is damaged in a data file. Of a file that is not cut off, only so many pages are looked at. */
export function findDamage(path: string, pages: number = Number.POSITIVE_INFINITY): readonly string[] {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    using file = new LmdbFile(path, pages)
    const { transaction } = file
    file.checkAllPages()
    // Pages of a state that others have left meanwhile may have been written anew.
    if (file.damage.length === 0 || file.transaction === transaction) return file.damage
  }
  return []
}
