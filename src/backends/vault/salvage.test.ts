import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { type Home, openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-salvage-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const LARGE = 'what the large file holds. '.repeat(4000)

/** A home with a checkpoint, large files and rows that no stored tree has yet; damaged by a change of its tables. */
async function damagedHome(name: string, sql: string): Promise<Home> {
  const path = join(scratch, name)
  const home = await openHome({ path, engine: 'sqlite' })
  const vault = await home.createVault('base')
  await vault.write('/docs/large', LARGE)
  await vault.write('/docs/small', 'small')
  await vault.write('/other/kept', 'kept')
  await vault.symlink('/docs/small', '/link')
  await vault.checkpoint('then')
  await home.close()
  const writer = await openHome({ path })
  const rows = await writer.vault('base')
  await rows.write('/late-1', 'first')
  await rows.write('/late-2', 'second')
  const db = new DatabaseSync(join(path, 'store.db'))
  db.exec(sql)
  db.close()
  // Left as it is, as by a process that was killed: what it stores when it is closed would be undamaged.
  leftOpen.push(writer)
  return openHome({ path })
}

const leftOpen: Home[] = []
afterAll(async () => {
  for (const home of leftOpen) await home.close().catch(() => undefined)
})

const FLIP = "CAST(substr(bytes, 1, 20) || x'00ff00' || substr(bytes, 24) AS BLOB)"
const LAST_ROW = `UPDATE journal SET bytes = ${FLIP} WHERE id = (SELECT max(id) FROM journal)`
const LARGE_BLOB = `UPDATE blobs SET bytes = ${FLIP} WHERE id = (SELECT max(id) FROM blobs WHERE length(bytes) = 32768)`

describe('fsck', () => {
  it('reports a damaged journal row with its vault, and continues', async () => {
    await using home = await damagedHome('row', LAST_ROW)
    const { checked, damaged } = await home.fsck()
    expect(checked).toBeGreaterThan(0)
    expect(damaged).toEqual([
      { kind: 'journal', id: expect.any(Number), detail: expect.any(String), places: ['base'] },
    ])
  })

  it('lists the files of a damaged blob, in vaults and checkpoints', async () => {
    await using home = await damagedHome('blob', LARGE_BLOB)
    const { damaged } = await home.fsck()
    expect(damaged).toMatchObject([{ kind: 'blob', places: ['base:/docs/large', 'base@then:/docs/large'] }])
  })

  it('reports that the records of all vaults are missing', async () => {
    await using home = await damagedHome('records', "DELETE FROM records WHERE key NOT IN ('home', 'ids')")
    expect((await home.fsck()).damaged).toMatchObject([{ kind: 'record' }])
  })

  it('reports a damaged record of a vault', async () => {
    const sql = `UPDATE records SET bytes = ${FLIP} WHERE key = 'vault/base'`
    await using home = await damagedHome('head', sql)
    expect((await home.fsck()).damaged).toContainEqual(
      expect.objectContaining({ kind: 'record', places: ['vault/base'] }),
    )
  })

  it('finds nothing in a home without a vault', async () => {
    await using home = await openHome({ path: join(scratch, 'empty') })
    expect(await home.fsck()).toEqual({ checked: 0, damaged: [], orphanedSegments: [] })
  })
})

describe('salvage', () => {
  const namesIn = (directory: string) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()

  it('writes everything of an undamaged vault', async () => {
    await using home = await damagedHome('whole', 'SELECT 1')
    const out = join(scratch, 'whole-out')
    expect(await home.salvage('base', out)).toMatchObject({ files: 5, lost: [] })
    expect(readFileSync(join(out, 'docs/large'), 'utf8')).toBe(LARGE)
    expect(namesIn(out)).toEqual(
      ['docs', 'docs/large', 'docs/small', 'late-1', 'late-2', 'link', 'other', 'other/kept'].toSorted(),
    )
    await expect(home.salvage('base', out)).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('writes everything except the changes of a damaged row, even if the vault does not open', async () => {
    await using home = await damagedHome('row-out', LAST_ROW)
    await expect(home.vault('base')).rejects.toMatchObject({ code: 'EIO' })
    const out = join(scratch, 'row-files')
    const { lost } = await home.salvage('base', out)
    expect(lost).toMatchObject([
      { path: '/', detail: expect.stringContaining('of the journal cannot be read') },
    ])
    expect(readFileSync(join(out, 'late-1'), 'utf8')).toBe('first')
    expect(namesIn(out)).not.toContain('late-2')
  })

  it('writes a partial file under another name, and reports the lost bytes', async () => {
    await using home = await damagedHome('part', LARGE_BLOB)
    const out = join(scratch, 'part-out')
    const { lost } = await home.salvage('base', out)
    expect(lost).toEqual([
      { path: '/docs/large', detail: expect.stringMatching(/^bytes \d+ to \d+ cannot be read$/) },
    ])
    const part = readFileSync(join(out, 'docs/large.damaged'), 'utf8')
    expect(part.length).toBe(LARGE.length)
    expect(part.replaceAll('\0', '').length).toBe(LARGE.length - 32_768)
    expect(readFileSync(join(out, 'docs/small'), 'utf8')).toBe('small')
  })

  it('continues with any damaged page, and never writes wrong content', async () => {
    const sound = await damagedHome('pages', 'SELECT 1')
    await sound.close()
    const db = new DatabaseSync(join(scratch, 'pages/store.db'))
    const ids = db
      .prepare('SELECT id FROM pages')
      .all()
      .map((row) => Number(row['id']))
    for (const id of ids) {
      db.exec('BEGIN')
      db.exec(`UPDATE pages SET bytes = ${FLIP} WHERE id = ${id}; COMMIT`)
      const out = join(scratch, `page-${id}`)
      await using home = await openHome({ path: join(scratch, 'pages') })
      const { lost } = await home.salvage('base', out)
      if (lost.length === 0) expect(readFileSync(join(out, 'docs/large'), 'utf8')).toBe(LARGE)
      for (const name of namesIn(out)) {
        if (/large$/.test(name)) expect(readFileSync(join(out, name), 'utf8')).toBe(LARGE)
      }
    }
    db.close()
    expect(ids.length).toBeGreaterThan(0)
  })
})
