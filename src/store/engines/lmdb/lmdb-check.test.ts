import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findDamage } from './lmdb-check.ts'
import { LmdbEngine } from './lmdb-engine.ts'

const PAGES = 200
let directory: string

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'coppice-lmdb-check-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** Runs work during which a call of `node:fs` is followed once by something else. */
function followOnce<T>(name: 'fstatSync' | 'openSync', what: () => void, work: () => T): T {
  const real = fs[name]
  const follow = (...words: unknown[]) => {
    const result = Reflect.apply(real, fs, words)
    Object.assign(fs, { [name]: real })
    syncBuiltinESMExports()
    what()
    return result
  }
  Object.assign(fs, { [name]: follow })
  syncBuiltinESMExports()
  try {
    return work()
  } finally {
    Object.assign(fs, { [name]: real })
    syncBuiltinESMExports()
  }
}

/** Returns the bytes of a store in an early state, and in a later one that reuses its pages and is larger. */
async function createStates(): Promise<{ early: Buffer; late: Buffer }> {
  const file = join(directory, 'data.mdb')
  await using engine = await LmdbEngine.open({ directory })
  const rewrite = (round: number, pageBytes: number) => {
    const ids = Array.from({ length: PAGES }, (_, id) => id + 1)
    engine.commit({ pages: ids.map((id) => ({ id, bytes: Buffer.alloc(pageBytes, round) })) })
  }
  rewrite(1, 1500)
  const early = fs.readFileSync(file)
  // Large values lie on pages without a header, also on those that held a table before.
  for (let round = 2; round < 8; round++) rewrite(round, 20_000)
  return { early, late: fs.readFileSync(file) }
}

it.each(['fstatSync', 'openSync'] as const)(
  'a store to which another process commits after %s has no damage',
  async (call) => {
    const { early, late } = await createStates()
    const file = join(directory, 'copy.mdb')
    fs.writeFileSync(file, early)
    expect(findDamage(file)).toEqual([])
    expect(
      followOnce(
        call,
        () => fs.writeFileSync(file, late, { flag: 'r+' }),
        () => findDamage(file),
      ),
    ).toEqual([])
    expect(findDamage(file)).toEqual([])
  },
)

it('a truncated store is damaged', async () => {
  const { late } = await createStates()
  const file = join(directory, 'copy.mdb')
  fs.writeFileSync(file, late.subarray(0, late.length / 2))
  expect(findDamage(file)).not.toEqual([])
})
