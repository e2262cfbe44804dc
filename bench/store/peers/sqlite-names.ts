import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureNames, type NamesSubject } from '../names.ts'
import { chooseScale } from '../scale.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureNames(recorder, tableNames(settings), chooseScale(settings).textFiles)
}

/** A table of paths, one transaction for each change: no directory is looked for, and none must be empty. */
function tableNames(settings: Settings): NamesSubject {
  let volumes = 0
  return {
    async open(directories, files) {
      const file = `${settings.directory}/names-${process.pid}-${++volumes}.db`
      const db = new DatabaseSync(file)
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 268435456')
      db.exec('CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE, bytes BLOB)')
      const insert = db.prepare('INSERT INTO files (path) VALUES (?)')
      const update = db.prepare('UPDATE files SET path = ? WHERE path = ?')
      const remove = db.prepare('DELETE FROM files WHERE path = ?')
      db.exec('BEGIN')
      for (const path of [...directories, ...files]) insert.run(path)
      db.exec('COMMIT')
      return {
        mkdir: (path) => void insert.run(path),
        rename: (from, to) => void update.run(to, from),
        remove: (path) => void remove.run(path),
        [Symbol.asyncDispose]: async () => {
          db.close()
          for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
        },
      }
    },
  }
}
