import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { engineSuite } from '../engine-suite.ts'
import { MemoryEngine } from './memory-engine.ts'
import { SqliteEngine } from './sqlite-engine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-engines-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let places = 0
const place = () => join(scratch, `home-${++places}`)

engineSuite(
  { describe, it },
  { name: 'memory', open: () => new MemoryEngine(), place, isPersistent: false, isShared: false },
)
engineSuite(
  { describe, it },
  { name: 'sqlite', open: (file) => new SqliteEngine({ file }), place, isPersistent: true, isShared: true },
)

describe('the sqlite engine', () => {
  it('refuses a store of a format it does not know, and says what to do', () => {
    const file = place()
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect(() => new SqliteEngine({ file })).toThrow(/format 99, this version knows 1; update coppice/)
  })
})
