import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { list } from '../../vfs/index.ts'
import { openHome, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-lists-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

const namesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `name-${String(index).padStart(4, '0')}`)

async function fill(vault: Vault, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => vault.write(`/d/${name}`, name)))
}

/** Names of directories around the size that one read returns whole. */
describe.each([0, 1, 100, 511, 512, 513, 1100])('a directory of %i names', (count) => {
  it('is listed as it was when the list was opened', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.mkdir('/d')
    await fill(vault, namesOf(count))
    const entries = vault.readdir('/d')
    await vault.write('/d/later', '')
    await Promise.all(namesOf(count).map((name) => vault.remove(`/d/${name}`)))
    const expected = namesOf(count).map((name) => ({ name, type: 'file' }))
    expect(await Array.fromAsync(entries)).toEqual(expected)
    expect(await list(vault, '/d')).toEqual([{ name: 'later', type: 'file' }])
    await home.close()
  })
})

describe('a list of a directory in a store that other processes can open', () => {
  it('holds nothing from collections unless it needs several reads', async () => {
    const path = newPlace()
    const home = await openHome({ path, engine: 'sqlite' })
    const vault = await home.createVault('base')
    await fill(vault, namesOf(600))
    await vault.write('/few/name', '')
    const sessions = () =>
      readdirSync(path)
        .filter((name) => name.endsWith('-sessions'))
        .flatMap((name) => readdirSync(join(path, name)))
    const before = sessions()
    await list(vault, '/few')
    expect(sessions()).toEqual(before)
    const entries = vault.readdir('/d')
    expect(sessions()).not.toEqual(before)
    expect((await Array.fromAsync(entries)).length).toBe(600)
    await home.close()
  })
})
