import type { Batch, JournalRow } from '../../engine.ts'
import { encodeIdKey, encodeJournalKey } from '../binary-keys.ts'

/** One change in a LevelDB batch. The later of two changes of one key wins. */
export type LevelChange =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

/** Tables of the store. LevelDB has a single space of keys: their first byte names the table. */
const TABLE_PREFIXES = { meta: 0, pages: 1, blobs: 2, hashes: 3, journal: 4, records: 5 } as const
export type LevelTable = keyof typeof TABLE_PREFIXES

/** Offsets in a key: of the id of a page or blob, and of the number of a journal row, after that of its vault. */
export const ID_OFFSET = 1
export const SEQ_OFFSET: number = ID_OFFSET + 8

export const FORMAT_KEY: Buffer = encodeKey('meta', Buffer.from('format'))

function encodeKey(table: LevelTable, key: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(TABLE_PREFIXES[table]), key])
}

/** Returns the range of keys of a table that start with a prefix; UTF-8 never contains 0xff. */
export function getKeyRange(table: LevelTable, prefix = ''): { gte: Buffer; lt: Buffer } {
  const gte = encodeKey(table, Buffer.from(prefix))
  const lt = Buffer.from(gte)
  lt[lt.length - 1] = (lt.at(-1) ?? 0) + 1
  return { gte, lt }
}

export function pageKey(id: number): Buffer {
  return encodeKey('pages', encodeIdKey(id))
}

export function blobKey(id: number): Buffer {
  return encodeKey('blobs', encodeIdKey(id))
}

export function hashKey(hash: Uint8Array): Buffer {
  return encodeKey('hashes', hash)
}

export function recordKey(key: string): Buffer {
  return encodeKey('records', Buffer.from(key))
}

export function rowKey(row: Pick<JournalRow, 'vault' | 'seq'>): Buffer {
  return encodeKey('journal', encodeJournalKey(row))
}

/** Returns the changes of a batch without its sweep. */
export function toLevelChanges({ records = [], pages = [], blobs = [], journal = [] }: Batch): LevelChange[] {
  const hashed = blobs.filter(({ hash }) => hash.length > 0)
  return [
    ...blobs.map(({ id, bytes }) => createPut(blobKey(id), bytes)),
    ...hashed.map(({ id, hash }) => createPut(hashKey(hash), encodeIdKey(id))),
    ...pages.map(({ id, bytes }) => createPut(pageKey(id), bytes)),
    ...journal.map((row) => createPut(rowKey(row), row.bytes)),
    ...records.map(({ key, bytes }) =>
      bytes === null ? createDelete(recordKey(key)) : createPut(recordKey(key), bytes),
    ),
  ]
}

export function createPut(key: Uint8Array, value: Uint8Array): LevelChange {
  return { type: 'put', key, value }
}

export function createDelete(key: Uint8Array): LevelChange {
  return { type: 'del', key }
}
