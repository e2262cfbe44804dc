import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, makePrivateFile } from '../../../machine/index.ts'
import { ByteCursor } from '../byte-cursor.ts'
import { createDamagedStoreError } from '../engine-errors.ts'
import { readLevelLog } from './level-log.ts'
import { findTableDamage } from './level-table.ts'

const MAX_TRIES = 3
/** Tags of the entries of LevelDB's manifest. */
const TAGS = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedTable: 6,
  newTable: 7,
  previousLog: 9,
} as const
const NUMBER_TAGS: readonly number[] = [TAGS.nextFile, TAGS.lastSequence, TAGS.previousLog]
const LOG_FILE_PATTERN = /^(\d+)\.log$/
/** Records the sizes of the logs at close: LevelDB takes a truncated log for a shorter one. */
const CLOSED_FILE = 'closed'

/** Content of LevelDB's manifest. */
interface LevelManifest {
  /** Sizes of the tables in use, by number. */
  readonly tables: ReadonlyMap<number, number>
  /** Number of the oldest log in use. */
  readonly log: number
}

/**
 * Throws EIO if the manifest or a log is damaged, or a table is too short. LevelDB would drop the unreadable
 * part of a log, and then the log. Reads the logs, some megabytes at most; `fsck` checks the content of tables.
 */
export function assertLevelIntact(directory: string): void {
  const [first] = checkConsistently(directory, () => [])
  if (first !== undefined) throw createDamagedStoreError(directory, first)
}

/** Lists the damage in the files of a database, by every checksum. */
export function findLevelDamage(directory: string): readonly string[] {
  return checkConsistently(directory, findTableDamage)
}

/** Lists damage. Checks again if a compaction replaced tables meanwhile; after some tries, it finds none. */
function checkConsistently(
  directory: string,
  checkTable: (path: string) => readonly string[],
): readonly string[] {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = findManifestFile(directory)?.bytes
    const damage = checkFiles(directory, checkTable)
    const after = findManifestFile(directory)?.bytes
    // A compaction replaced tables meanwhile.
    const isSame = before === undefined || (after !== undefined && before.equals(after))
    if (damage.length === 0 || isSame) return damage
  }
  return []
}

/** Reports whether the manifest is damaged or missing. */
export function isManifestDamaged(directory: string): boolean {
  return readManifest(directory) === undefined
}

/** Records the sizes of the files LevelDB appends to, once it is closed. */
export function recordClosedSizes(directory: string): void {
  const manifest = findManifestFile(directory)
  if (manifest === undefined) return
  const names = readdirSync(directory).filter((name) => LOG_FILE_PATTERN.test(name))
  const sizes = [manifest.name, ...names].map((name) => [name, statSync(join(directory, name)).size])
  const file = join(directory, CLOSED_FILE)
  makePrivateFile(file)
  writeFileSync(file, JSON.stringify(Object.fromEntries(sizes)))
}

function checkFiles(directory: string, checkTable: (path: string) => readonly string[]): string[] {
  if (!hasDatabase(directory)) return []
  const files = readManifest(directory)
  if (files === undefined) return ['its list of files is damaged']
  const damage: string[] = []
  for (const [number, size] of files.tables) {
    const name = getTableName(directory, number)
    const path = join(directory, name)
    const found = statSync(path, { throwIfNoEntry: false })?.size
    if (found === undefined) damage.push(`${name} is missing`)
    else if (found < size) damage.push(`${name} has ${found} bytes, not ${size}`)
    else damage.push(...checkTable(path).map((detail) => `${name}: ${detail}`))
  }
  return [...damage, ...findLogDamage(directory, files.log)]
}

function findLogDamage(directory: string, oldest: number): string[] {
  const closed = readClosedSizes(directory)
  const present = readdirSync(directory)
  const names = new Set([...present, ...Object.keys(closed)])
  return [...names].sort().flatMap((name) => {
    if (Number(LOG_FILE_PATTERN.exec(name)?.[1] ?? -1) < oldest) return []
    if (!present.includes(name)) return [`${name} is missing`]
    const { damagedAt } = readLevelLog(readFileSync(join(directory, name)), closed[name])
    return damagedAt.map((offset) => `${name}: the record at ${offset} is damaged`)
  })
}

/** Reads the manifest; undefined if it is damaged or missing. */
function readManifest(directory: string): LevelManifest | undefined {
  const manifest = findManifestFile(directory)
  if (manifest === undefined) return undefined
  const { records, damagedAt } = readLevelLog(manifest.bytes, readClosedSizes(directory)[manifest.name])
  if (damagedAt.length > 0 || records.length === 0) return undefined
  const tables = new Map<number, number>()
  let log = 0
  try {
    for (const record of records) log = applyEdit(new ByteCursor(record), tables) ?? log
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return { tables, log }
}

/** Applies a version edit; returns the log that is the oldest in use from then on. */
function applyEdit(cursor: ByteCursor, tables: Map<number, number>): number | undefined {
  let log: number | undefined
  const skip = () => cursor.readBytes(cursor.readVarint())
  while (!cursor.isAtEnd) {
    const tag = cursor.readVarint()
    if (tag === TAGS.logNumber) log = cursor.readVarint()
    else if (NUMBER_TAGS.includes(tag)) cursor.readVarint()
    else if (tag === TAGS.comparator) skip()
    else if (tag === TAGS.compactPointer) {
      cursor.readVarint()
      skip()
    } else if (tag === TAGS.deletedTable) {
      cursor.readVarint()
      tables.delete(cursor.readVarint())
    } else if (tag === TAGS.newTable) {
      cursor.readVarint()
      tables.set(cursor.readVarint(), cursor.readVarint())
      skip()
      skip()
    } else throw new RangeError(`the list of files has an unknown entry ${tag}`)
  }
  return log
}

/** Reports whether LevelDB has a database here. A process killed while creating one leaves other files. */
function hasDatabase(directory: string): boolean {
  const names = readIfPresent(() => readdirSync(directory)) ?? []
  return names.some((name) => name === 'CURRENT' || /\.(?:ldb|sst|log)$/.test(name))
}

function findManifestFile(directory: string): { readonly name: string; readonly bytes: Buffer } | undefined {
  return readIfPresent(() => {
    const current = readFileSync(join(directory, 'CURRENT'), 'utf8')
    const [, name] = /^(MANIFEST-\d+)\n$/.exec(current) ?? []
    return name === undefined ? undefined : { name, bytes: readFileSync(join(directory, name)) }
  })
}

/** Returns the sizes at the last close; none if the database was opened since, which begins another manifest. */
function readClosedSizes(directory: string): Readonly<Record<string, number>> {
  const text = readIfPresent(() => readFileSync(join(directory, CLOSED_FILE), 'utf8'))
  const manifest = findManifestFile(directory)?.name
  if (text === undefined || manifest === undefined) return {}
  try {
    const sizes: Record<string, number> = JSON.parse(text)
    return sizes[manifest] === undefined ? {} : sizes
  } catch {
    // A process was killed while writing this.
    return {}
  }
}

function getTableName(directory: string, number: number): string {
  const digits = String(number).padStart(6, '0')
  const legacyName = `${digits}.sst`
  const isLegacy = statSync(join(directory, legacyName), { throwIfNoEntry: false }) !== undefined
  return isLegacy ? legacyName : `${digits}.ldb`
}

function readIfPresent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}
