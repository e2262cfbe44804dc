import type { Batch, JournalRow } from '../engine.ts'
import { idKey, journalKey } from './keys.ts'

/** One change in a LevelDB batch. Of two changes of one key the later counts. */
export type Change =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

/** LevelDB has one table: the first byte of a key tells which of ours it belongs to. */
const PREFIX = { meta: 0, pages: 1, blobs: 2, hashes: 3, journal: 4, records: 5 } as const
export type Table = keyof typeof PREFIX

export const FORMAT_KEY: Buffer = keyOf('meta', Buffer.from('format'))

function keyOf(table: Table, key: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(PREFIX[table]), key])
}

/** Every key of a table whose rest begins with a text: no byte of UTF-8 is the highest there is. */
export function range(table: Table, prefix = ''): { gte: Buffer; lt: Buffer } {
  const gte = keyOf(table, Buffer.from(prefix))
  const lt = Buffer.from(gte)
  lt[lt.length - 1] = (lt.at(-1) ?? 0) + 1
  return { gte, lt }
}

export function pageKey(id: number): Buffer {
  return keyOf('pages', idKey(id))
}

export function blobKey(id: number): Buffer {
  return keyOf('blobs', idKey(id))
}

export function hashKey(hash: Uint8Array): Buffer {
  return keyOf('hashes', hash)
}

export function recordKey(key: string): Buffer {
  return keyOf('records', Buffer.from(key))
}

export function rowKey(place: Pick<JournalRow, 'vault' | 'seq'>): Buffer {
  return keyOf('journal', journalKey(place))
}

/** What a batch puts, in the order of the batch. */
export function changesOf({ records = [], pages = [], blobs = [], journal = [] }: Batch): Change[] {
  const hashed = blobs.filter(({ hash }) => hash.length > 0)
  return [
    ...blobs.map(({ id, bytes }) => put(blobKey(id), bytes)),
    ...hashed.map(({ id, hash }) => put(hashKey(hash), idKey(id))),
    ...pages.map(({ id, bytes }) => put(pageKey(id), bytes)),
    ...journal.map((row) => put(rowKey(row), row.bytes)),
    ...records.map(({ key, bytes }) => (bytes === null ? del(recordKey(key)) : put(recordKey(key), bytes))),
  ]
}

export function put(key: Uint8Array, value: Uint8Array): Change {
  return { type: 'put', key, value }
}

export function del(key: Uint8Array): Change {
  return { type: 'del', key }
}
