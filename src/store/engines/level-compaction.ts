import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sumFileSizes } from './disk-usage.ts'
import type { LevelDatabase } from './level-database.ts'

const TABLE_FILE_PATTERN = /^(\d+)\.(?:ldb|sst)$/
/** Behind the prefix of every table of ours: no key has it. */
const NO_KEY: Uint8Array = Buffer.of(0xff)
const FIRST_KEY: Uint8Array = Buffer.of(0)

/** The size of all tables of a LevelDB database, those included that a compaction is writing. */
export function getTableBytes(directory: string): number {
  return sumFileSizes(listTables(directory).map((name) => join(directory, name)))
}

/** Tables on disk that no version of the database names: a compaction writes them, or is about to remove them. */
export function listUnreferencedTables(directory: string, db: LevelDatabase): string[] {
  // A line for each: its number, its size, and its first and last key.
  const lines = db.getProperty('leveldb.sstables').matchAll(/^ (\d+):\d+\[/gm)
  const named = new Set(Array.from(lines, ([, number]) => Number(number)))
  return listTables(directory).filter((name) => !named.has(Number.parseInt(name, 10)))
}

/** Returns once the compaction under way is done. One of a range without keys does nothing, and is behind it in line. */
export function waitForCompaction(db: LevelDatabase): Promise<void> {
  return db.compactRange(NO_KEY, NO_KEY)
}

/** Rewrites every table without what was removed. */
export function compactAll(db: LevelDatabase): Promise<void> {
  return db.compactRange(FIRST_KEY, NO_KEY)
}

function listTables(directory: string): string[] {
  return readdirSync(directory).filter((name) => TABLE_FILE_PATTERN.test(name))
}
