import { createHash } from 'node:crypto'
import type { SqlStatement } from './postgres-connection.ts'
import { READ_BATCH } from './postgres-reads.ts'
import { qualify } from './postgres-schema.ts'

type StatementName =
  | 'commit'
  | 'readBatch'
  | 'listRecords'
  | 'listPages'
  | 'listBlobs'
  | 'listBlobSizes'
  | 'usage'
  | 'sync'

const SQL: Readonly<Record<StatementName, string>> = {
  commit: 'select S.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
  readBatch: READ_BATCH,
  listRecords: 'select key, bytes from S.records where key >= $1 and key < $2 order by key',
  listPages: 'select id from S.pages where id > $1 order by id limit $2',
  listBlobs: 'select id from S.blobs where id > $1 order by id limit $2',
  // Of content that is stored beside its row, this reads no more than the length.
  listBlobSizes: 'select id, octet_length(bytes) from S.blobs where id > $1 order by id limit $2',
  usage: `select
    (select count(*) from S.pages), (select coalesce(sum(octet_length(bytes)), 0) from S.pages),
    (select count(*) from S.blobs), (select coalesce(sum(octet_length(bytes)), 0) from S.blobs),
    (select count(*) from S.journal), (select coalesce(sum(octet_length(bytes)), 0) from S.journal),
    (select sum(pg_total_relation_size(('S.' || name)::regclass)) from unnest(array[
      'pages', 'blobs', 'hashes', 'records', 'journal', 'sessions', 'outcomes', 'incarnations', 'home']) name)`,
  // A transaction that writes, with a durable commit: the log has everything before it.
  sync: `select set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'coppice', '')`,
}

export type PostgresStatements = Readonly<Record<StatementName, Required<SqlStatement>>>

/** Creates the statements of an engine. */
export function createStatements(schema: string): PostgresStatements {
  const create = (name: StatementName) => prepare(qualify(SQL[name], schema))
  return {
    commit: create('commit'),
    readBatch: create('readBatch'),
    listRecords: create('listRecords'),
    listPages: create('listPages'),
    listBlobs: create('listBlobs'),
    listBlobSizes: create('listBlobSizes'),
    usage: create('usage'),
    sync: create('sync'),
  }
}

/** Names a statement by its text: a pooler may give the connection of another version to this one. */
function prepare(text: string): Required<SqlStatement> {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text }
}
