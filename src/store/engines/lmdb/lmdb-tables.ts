import type { Database, RootDatabase } from 'lmdb'
import { decodeNumberAt, encodeIdKey } from '../binary-keys.ts'
import { createForeignStoreError, createMissingPackageError } from '../engine-errors.ts'
import { assertFormat, FIRST_FORMAT } from '../store-format.ts'

/** Directory of large content in that of the environment. */
export const SEGMENT_DIRECTORY = 'segments'
const FORMAT_KEY = Buffer.from('format')

export type LmdbRoot = RootDatabase<Uint8Array, Uint8Array>
export type LmdbTable = Database<Uint8Array, Uint8Array>

export interface LmdbTables {
  readonly meta: LmdbTable
  readonly pages: LmdbTable
  readonly blobs: LmdbTable
  readonly hashes: LmdbTable
  readonly journal: LmdbTable
  readonly records: LmdbTable
}

export async function loadLmdb(directory: string): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb')
  } catch (cause) {
    throw createMissingPackageError(directory, 'LMDB', 'lmdb', cause)
  }
}

function openTable(root: LmdbRoot, name: string): LmdbTable {
  return root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' })
}

export function openTables(root: LmdbRoot): LmdbTables {
  return {
    meta: openTable(root, 'meta'),
    pages: openTable(root, 'pages'),
    blobs: openTable(root, 'blobs'),
    hashes: openTable(root, 'hashes'),
    journal: openTable(root, 'journal'),
    records: openTable(root, 'records'),
  }
}

const TABLE_NAMES = ['blobs', 'hashes', 'journal', 'meta', 'pages', 'records']

/**
 * Checks the format, and writes it into a new store. ENOTSUP for another format, and for an environment of another
 * program: its tables are checked first, since opening creates a table.
 */
export function assertOwnFormat(root: LmdbRoot, directory: string, isReadOnly: boolean): void {
  // The library ends names with a NUL.
  const names = Array.from(root.getKeys(), (key) => Buffer.from(key).toString().replace(/\0$/, ''))
  if (names.some((name) => !TABLE_NAMES.includes(name))) {
    throw createForeignStoreError(directory, 'an LMDB environment', names)
  }
  const meta = openTable(root, 'meta')
  const read = () => {
    const bytes = meta.getBinary(FORMAT_KEY)
    return bytes === undefined ? undefined : decodeNumberAt(bytes, 0)
  }
  const readOrMark = () => {
    const found = read()
    if (found === undefined) meta.putSync(FORMAT_KEY, encodeIdKey(FIRST_FORMAT))
    return found
  }
  const found = isReadOnly ? read() : root.transactionSync(readOrMark)
  assertFormat(directory, found ?? FIRST_FORMAT)
}

/** Throws ENOTSUP if a later version has raised the format since the store was opened. */
export function assertKnownFormat({ meta }: LmdbTables, directory: string): void {
  const found = meta.getBinary(FORMAT_KEY)
  if (found !== undefined) assertFormat(directory, decodeNumberAt(found, 0))
}

/** Raises the format of a store, unless it is as high. Call it in a transaction. */
export function raiseFormat({ meta }: LmdbTables, format: number): void {
  if (format === FIRST_FORMAT) return
  const found = meta.getBinary(FORMAT_KEY)
  if (found === undefined || decodeNumberAt(found, 0) < format) meta.putSync(FORMAT_KEY, encodeIdKey(format))
}

/** Counts the rows and bytes of a table by reading all of it. */
export function measureTable(table: LmdbTable): { count: number; bytes: number } {
  let count = 0
  let bytes = 0
  for (const key of table.getKeys()) {
    count++
    // Mapped, not copied: only the length matters.
    bytes += table.getBinaryFast(key)?.length ?? 0
  }
  return { count, bytes }
}

/** Returns the bytes of free pages, which LMDB reuses before its file grows. */
export function getFreePageBytes(root: LmdbRoot, tables: LmdbTables): number {
  const stats = new Map(Object.entries(root.getStats()))
  const lastPage = getNumber(stats, 'lastPageNumber')
  const trees = [
    stats.get('root'),
    stats.get('free'),
    ...Object.values(tables).map((table) => table.getStats()),
  ]
  const used = trees.reduce((sum: number, tree) => sum + countPages(tree), 0)
  return Math.max(0, lastPage + 1 - used) * getNumber(stats, 'pageSize')
}

/** Counts the pages of a tree by its statistics. */
function countPages(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null) return 0
  const stats = new Map(Object.entries(tree))
  const counts = ['treeBranchPageCount', 'treeLeafPageCount', 'overflowPages']
  return counts.reduce((sum, name) => sum + getNumber(stats, name), 0)
}

function getNumber(stats: ReadonlyMap<string, unknown>, name: string): number {
  const value = stats.get(name)
  return typeof value === 'number' ? value : 0
}
