import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { encodeChecksummedJson } from '../../../src/store/checksummed-json.ts'
import { SqliteRowCommit } from '../../../src/store/engines/sqlite/sqlite-row-commit.ts'
import { SCHEMA } from '../../../src/store/engines/sqlite/sqlite-statements.ts'
import { SqliteWal } from '../../../src/store/engines/sqlite/sqlite-wal.ts'

const NO_HASH = new Uint8Array(0)
/** Page size of a new store. */
const PAGE_BYTES = 4096

/** The rows that a change of a vault leaves in SQLite, as the engine commits them, without any vault around them. */
export class BareRows implements Disposable {
  readonly #db: DatabaseSync
  readonly #rowCommit: SqliteRowCommit
  #seq = 0

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000')
    new SqliteWal(this.#db, file).limitSize(false)
    this.#db.exec(SCHEMA)
    this.#rowCommit = new SqliteRowCommit(this.#db)
  }

  /** Commits the journal row of a change, with the content that it refers to if there is any. */
  commit(op: string, path: string, bytes?: Uint8Array): void {
    const seq = ++this.#seq
    const row = { vault: 1, seq, bytes: encodeRow(op, path, seq, bytes) }
    const result = this.#rowCommit.commit(row, bytes && { id: seq, hash: NO_HASH, bytes })
    if (result !== 'committed') throw new Error(`row ${seq}: ${result}`)
  }

  /** Inserts the same rows in one transaction. */
  insertAll(files: readonly { readonly path: string; readonly bytes: Uint8Array }[]): void {
    const blob = this.#db.prepare('INSERT INTO blobs VALUES (?, ?)')
    const row = this.#db.prepare('INSERT INTO journal VALUES (?, ?)')
    this.#db.exec('BEGIN IMMEDIATE')
    for (const { path, bytes } of files) {
      const seq = ++this.#seq
      blob.run(seq, bytes)
      row.run(seq, encodeRow('write', path, seq, bytes))
    }
    this.#db.exec('COMMIT')
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

function encodeRow(op: string, path: string, seq: number, bytes: Uint8Array | undefined): Uint8Array {
  const content = bytes && {
    size: bytes.length,
    chunks: [{ blob: seq, size: bytes.length, crc: crc32(bytes) }],
  }
  return encodeChecksummedJson({ time: Date.now(), operation: { op, path, ...(content && { content }) } })
}
