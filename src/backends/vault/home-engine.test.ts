import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-engine-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const engines = ['sqlite', 'lmdb', 'level'] as const
const stores = { sqlite: 'store.db', lmdb: 'store.lmdb', level: 'store.level' } as const
const files = { sqlite: 'store.db', lmdb: 'store.lmdb/data.mdb', level: 'store.level/CURRENT' } as const

async function makeHome(name: string, engine: (typeof engines)[number]): Promise<string> {
  const path = join(scratch, name)
  await using home = await openHome({ path, engine })
  await home.createVault('base')
  return path
}

describe.each(engines)('a home on %s', (engine) => {
  it('is opened with its own engine by default', async () => {
    const path = await makeHome(`kept-${engine}`, engine)
    await using home = await openHome({ path })
    expect(await home.vaults()).toEqual(['base'])
    expect(home.place).toEqual({ path, engine })
  })

  it('rejects every other engine with both names, and creates no second store', async () => {
    const path = await makeHome(`refusing-${engine}`, engine)
    const before = readdirSync(path).toSorted()
    for (const asked of engines.filter((name) => name !== engine)) {
      await expect(openHome({ path, engine: asked })).rejects.toMatchObject({
        code: 'EINVAL',
        message: expect.stringContaining(`is on '${engine}' (${stores[engine]}), not on '${asked}'`),
      })
    }
    expect(readdirSync(path).toSorted()).toEqual(before)
    // A home of before has no record of its engine.
    rmSync(join(path, 'home.json'))
    const other = engine === 'lmdb' ? 'sqlite' : 'lmdb'
    await expect(openHome({ path, engine: other })).rejects.toMatchObject({ code: 'EINVAL' })
    await using home = await openHome({ path })
    expect(await home.vaults()).toEqual(['base'])
  })

  it('throws if its store is missing or empty, and creates none', async () => {
    const path = await makeHome(`lost-${engine}`, engine)
    const lost = { code: 'EIO', message: expect.stringContaining('is missing or empty') }
    truncateSync(join(path, files[engine]))
    await expect(openHome({ path })).rejects.toMatchObject(lost)
    rmSync(join(path, stores[engine]), { recursive: true })
    await expect(openHome({ path })).rejects.toMatchObject(lost)
    expect(existsSync(join(path, stores[engine]))).toBe(false)
    rmSync(join(path, 'home.json'))
    await using home = await openHome({ path, engine })
    expect(await home.vaults()).toEqual([])
  })
})

it('a store without records is no new home', async () => {
  const path = await makeHome('records', 'sqlite')
  const db = new DatabaseSync(join(path, 'store.db'))
  db.exec('DELETE FROM records')
  db.close()
  await expect(openHome({ path })).rejects.toMatchObject({ code: 'EIO' })
})

it('a home with two stores is opened with the named one, also later', async () => {
  const path = await makeHome('two', 'lmdb')
  rmSync(join(path, 'home.json'))
  await makeHome('other', 'sqlite')
  mkdirSync(join(path, 'store.level'))
  await expect(openHome({ path })).rejects.toMatchObject({
    code: 'EINVAL',
    message: expect.stringMatching(/several stores: store\.lmdb of 'lmdb' and store\.level of 'level'/),
  })
  await (await openHome({ path, engine: 'lmdb' })).close()
  await using home = await openHome({ path })
  expect(await home.vaults()).toEqual(['base'])
})

it('an older store without an application id is recognised by its tables', async () => {
  const path = await makeHome('older', 'sqlite')
  const db = new DatabaseSync(join(path, 'store.db'))
  db.exec("PRAGMA application_id = 0; DELETE FROM records WHERE key = 'home'")
  db.close()
  rmSync(join(path, 'home.json'))
  await using home = await openHome({ path })
  expect(await home.vaults()).toEqual(['base'])
})
