import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import type { GroupCommit } from '../../engine.ts'
import { row } from '../suite-rows.ts'
import { SqliteEngine } from './sqlite-engine.ts'

const MIB = 1024 * 1024
const scratch = mkdtempSync(join(tmpdir(), 'coppice-checkpoint-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Commits content in groups of a megabyte; `ids` continue those of the call before. */
function commitMegabytes(engine: SqliteEngine, groups: GroupCommit, first: number, count: number): void {
  for (let id = first; id < first + count; id++) {
    if (!groups.begin()) throw new Error('the store is not free')
    const blob = { id, hash: new Uint8Array(0), bytes: randomBytes(MIB) }
    groups.commit(() => engine.commit({ blobs: [blob], journal: [row(1, id)] }))
  }
}

it('copies the log into the database while the connection is open, before the log is long', async () => {
  const file = join(scratch, 'copied.db')
  await using engine = new SqliteEngine({ file })
  commitMegabytes(engine, getGroupCommit(engine), 1, 12)
  await vi.waitFor(() => expect(statSync(file).size).toBeGreaterThan(8 * MIB), { timeout: 20_000 })
  expect(engine.readBlob(12)?.length).toBe(MIB)
})

it('keeps the log short, and every commit, while a connection writes on', async () => {
  const file = join(scratch, 'written-on.db')
  const engine = new SqliteEngine({ file })
  commitMegabytes(engine, getGroupCommit(engine), 1, 200)
  expect(statSync(`${file}-wal`).size).toBeLessThan(80 * MIB)
  await engine.close()
  await using reopened = new SqliteEngine({ file })
  expect(reopened.listBlobs(0, 1000)).toHaveLength(200)
})

it('lets a shrink empty the log, also while another thread copies it', async () => {
  const file = join(scratch, 'shrunk.db')
  await using engine = new SqliteEngine({ file })
  for (let round = 0; round < 8; round++) {
    commitMegabytes(engine, getGroupCommit(engine), 1 + round * 8, 8)
    while (engine.shrink() > 0);
    expect(statSync(`${file}-wal`).size).toBe(0)
  }
})

function getGroupCommit({ groupCommit }: SqliteEngine): GroupCommit {
  if (groupCommit === undefined) throw new Error('the store has no group commit')
  return groupCommit
}
