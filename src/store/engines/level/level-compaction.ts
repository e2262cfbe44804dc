import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sumFileSizes } from '../disk-usage.ts'
import type { LevelDatabase } from './level-database.ts'

const TABLE_FILE_PATTERN = /^(\d+)\.(?:ldb|sst)$/
/** Sorts after every key. */
const KEY_AFTER_ALL: Uint8Array = Buffer.of(0xff)
const FIRST_KEY: Uint8Array = Buffer.of(0)

/** Returns the size of all tables, including those that a compaction is writing. */
export function getTableBytes(directory: string): number {
  return sumFileSizes(listTables(directory).map((name) => join(directory, name)))
}

/** Lists tables on disk that no version names: a compaction is writing or removing them. */
export function listUnreferencedTables(directory: string, db: LevelDatabase): string[] {
  // One line per table: its number, its size, and its first and last key.
  const lines = db.getProperty('leveldb.sstables').matchAll(/^ (\d+):\d+\[/gm)
  const numbers = new Set(Array.from(lines, ([, number]) => Number(number)))
  return listTables(directory).filter((name) => !numbers.has(Number.parseInt(name, 10)))
}

/** Waits for the running compaction. Compacting an empty range does nothing, but queues behind it. */
export function waitForCompaction(db: LevelDatabase): Promise<void> {
  return db.compactRange(KEY_AFTER_ALL, KEY_AFTER_ALL)
}

/** Rewrites every table without deleted rows. */
export function compactAll(db: LevelDatabase): Promise<void> {
  return db.compactRange(FIRST_KEY, KEY_AFTER_ALL)
}

function listTables(directory: string): string[] {
  return readdirSync(directory).filter((name) => TABLE_FILE_PATTERN.test(name))
}
