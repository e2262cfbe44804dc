import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ClassicLevel } from 'classic-level'
import { open as openLmdb } from 'lmdb'
import { afterAll, describe, expect, it } from 'vitest'
import { LevelEngine } from './level/level-engine.ts'
import { LmdbEngine } from './lmdb/lmdb-engine.ts'
import { SqliteEngine } from './sqlite/sqlite-engine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-foreign-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('a database of another program in the place of a store', () => {
  const refused = { code: 'ENOTSUP', message: expect.stringContaining('of another program') }

  it.each([
    ['closed', false],
    ['with changes in its log', true],
  ])('is refused and not changed: SQLite, %s', async (name, isLeft) => {
    const path = join(scratch, `foreign ${name}`)
    mkdirSync(path)
    const file = join(path, 'store.db')
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES (1)')
    if (!isLeft) db.close()
    const before = readFileSync(file)
    const open = async () => new SqliteEngine({ file })
    await expect(open()).rejects.toMatchObject(refused)
    expect(readFileSync(file).equals(before)).toBe(true)
    if (isLeft) db.close()
    const again = new DatabaseSync(file)
    const tables = again.prepare('SELECT name FROM sqlite_schema').all()
    expect(tables.map((row) => row['name'])).toEqual(['notes'])
    again.close()
  })

  it('is refused and not changed: LMDB', async () => {
    const directory = join(scratch, 'foreign-lmdb')
    const root = openLmdb(directory, { noSubdir: false })
    await root.openDB('notes', {}).put('a', 'b')
    await root.close()
    const before = readFileSync(join(directory, 'data.mdb'))
    await expect(LmdbEngine.open({ directory })).rejects.toMatchObject(refused)
    expect(readFileSync(join(directory, 'data.mdb')).equals(before)).toBe(true)
  })

  it('is refused and not changed: LevelDB', async () => {
    const directory = join(scratch, 'foreign-level')
    const level = new ClassicLevel(directory)
    await level.put('a', 'b')
    await level.close()
    await expect(LevelEngine.open({ directory })).rejects.toMatchObject(refused)
    await level.open()
    expect(await level.iterator().all()).toEqual([['a', 'b']])
    await level.close()
  })
})
