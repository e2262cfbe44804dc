import { DatabaseSync } from 'node:sqlite'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { type CorpusFile, createTextFiles, totalBytes } from '../../vfs/corpus.ts'
import { chooseScale } from '../scale.ts'

const BYTES_OF = 'SELECT bytes FROM files WHERE path = ?'

/**
 * SQLite alone with the same paths and bytes: one table, WAL, synced as little as our default is.
 * No directories, no times, no history: the limit of whoever builds on it.
 */
class RawTable implements Disposable {
  readonly #db: DatabaseSync

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 268435456')
    this.#db.exec('DROP TABLE IF EXISTS files')
    this.#db.exec('CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE, bytes BLOB)')
  }

  writeEach(files: readonly CorpusFile[]): void {
    const insert = this.#db.prepare('INSERT INTO files (path, bytes) VALUES (?, ?)')
    for (const { path, bytes } of files) insert.run(path, bytes)
  }

  writeTogether(files: readonly CorpusFile[]): void {
    this.#db.exec('BEGIN IMMEDIATE')
    this.writeEach(files)
    this.#db.exec('COMMIT')
  }

  readEach(files: readonly CorpusFile[]): number {
    const select = this.#db.prepare(BYTES_OF)
    return files.reduce((sum, { path }) => sum + lengthOf(select.get(path)?.['bytes']), 0)
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = createTextFiles(chooseScale(settings).textFiles)
  const operations = files.length
  const fileName = `${settings.directory}/raw-${process.pid}.db`
  let table = new RawTable(fileName)
  const prepare = async () => {
    table[Symbol.dispose]()
    table = new RawTable(fileName)
  }
  const count = (write: () => void) => async () => {
    write()
    return operations
  }
  const task = { operations, expected: operations, prepare }
  await recorder.record('write', { ...task, pass: count(() => table.writeEach(files)) })
  await recorder.record('write-together', { ...task, pass: count(() => table.writeTogether(files)) })
  await recorder.record('read', {
    operations,
    expected: totalBytes(files),
    pass: async () => table.readEach(files),
  })
  table[Symbol.dispose]()
}

function lengthOf(bytes: unknown): number {
  return bytes instanceof Uint8Array ? bytes.length : 0
}
