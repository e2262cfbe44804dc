import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { row } from '../suite-rows.ts'
import { SqliteEngine } from './sqlite-engine.ts'
import { SCHEMA } from './sqlite-statements.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-pages-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Creates a store as earlier versions did, or as an application of SQLite may have rewritten it. */
function createStore(file: string, pageBytes: number): void {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`)
  db.exec(SCHEMA)
  db.close()
}

function shrinkCompletely(engine: SqliteEngine): number {
  let total = 0
  for (let freed = engine.shrink(); freed > 0; freed = engine.shrink()) total += freed
  return total
}

it.each([4096, 8192])('stores, and counts what it gives back, in pages of %i bytes', async (pageBytes) => {
  const file = join(scratch, `${pageBytes}.db`)
  createStore(file, pageBytes)
  await using engine = new SqliteEngine({ file })
  const hash = new Uint8Array(0)
  const blobs = Array.from({ length: 40 }, (_, index) => ({
    id: index + 1,
    hash,
    bytes: randomBytes(32_768),
  }))
  engine.commit({ blobs, journal: [row(1, 1)] })
  expect(Buffer.from(engine.readBlob(7) ?? []).equals(blobs[6]?.bytes ?? hash)).toBe(true)

  engine.commit({ sweep: { blobs: blobs.map(({ id }) => ({ hash, blob: id })) } })
  const freed = shrinkCompletely(engine)
  expect(freed).toBeGreaterThanOrEqual(40 * 32_768)
  expect(freed).toBeLessThan(42 * 32_768)
  expect(statSync(file).size).toBeLessThan(32_768 + 8 * pageBytes)
})
