import type { Database, RootDatabase } from 'lmdb'
import { assertFormat, foreignStore, missingPackage } from './engine-errors.ts'
import { idKey, numberAt } from './keys.ts'

const FORMAT_VERSION = 1
const FORMAT_KEY = Buffer.from('format')

export type Root = RootDatabase<Uint8Array, Uint8Array>
export type Table = Database<Uint8Array, Uint8Array>

export interface Tables {
  readonly meta: Table
  readonly pages: Table
  readonly blobs: Table
  readonly hashes: Table
  readonly journal: Table
  readonly records: Table
}

export async function loadLmdb(directory: string): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb')
  } catch (cause) {
    throw missingPackage(directory, 'LMDB', 'lmdb', cause)
  }
}

function openTable(root: Root, name: string): Table {
  return root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' })
}

export function tablesOf(root: Root): Tables {
  return {
    meta: openTable(root, 'meta'),
    pages: openTable(root, 'pages'),
    blobs: openTable(root, 'blobs'),
    hashes: openTable(root, 'hashes'),
    journal: openTable(root, 'journal'),
    records: openTable(root, 'records'),
  }
}

const TABLES = ['blobs', 'hashes', 'journal', 'meta', 'pages', 'records']

/** Before any table is opened: opening one makes it, and an unknown store is left as it is. */
export function assertKnown(root: Root, directory: string, isReadOnly: boolean): void {
  // The library ends names with a NUL.
  const names = Array.from(root.getKeys(), (key) => Buffer.from(key).toString().replace(/\0$/, ''))
  if (names.some((name) => !TABLES.includes(name))) {
    throw foreignStore(directory, 'an LMDB environment', names)
  }
  const meta = openTable(root, 'meta')
  const read = () => {
    const bytes = meta.getBinary(FORMAT_KEY)
    return bytes === undefined ? undefined : numberAt(bytes, 0)
  }
  const readOrMark = () => {
    const found = read()
    if (found === undefined) meta.putSync(FORMAT_KEY, idKey(FORMAT_VERSION))
    return found
  }
  const found = isReadOnly ? read() : root.transactionSync(readOrMark)
  assertFormat(directory, found ?? FORMAT_VERSION, FORMAT_VERSION)
}

/** Of a snapshot, read whole. */
export function usageOf(table: Table): { count: number; bytes: number } {
  let count = 0
  let bytes = 0
  for (const key of table.getKeys()) {
    count++
    // Where it is mapped, not copied: only its length is asked for.
    bytes += table.getBinaryFast(key)?.length ?? 0
  }
  return { count, bytes }
}

/** How many bytes of the file no table takes: pages that LMDB writes on before its file grows. */
export function freeBytes(root: Root, tables: Tables): number {
  const stats = new Map(Object.entries(root.getStats()))
  const last = numberIn(stats, 'lastPageNumber')
  const own = [
    stats.get('root'),
    stats.get('free'),
    ...Object.values(tables).map((table) => table.getStats()),
  ]
  const taken = own.reduce((sum: number, of) => sum + pagesIn(of), 0)
  return Math.max(0, last + 1 - taken) * numberIn(stats, 'pageSize')
}

function pagesIn(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null) return 0
  const stats = new Map(Object.entries(tree))
  const counts = ['treeBranchPageCount', 'treeLeafPageCount', 'overflowPages']
  return counts.reduce((sum, name) => sum + numberIn(stats, name), 0)
}

function numberIn(stats: ReadonlyMap<string, unknown>, name: string): number {
  const value = stats.get(name)
  return typeof value === 'number' ? value : 0
}
