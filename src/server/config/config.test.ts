import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig, setConfig } from './config.ts'

function homeWith(text?: string): { home: string; file: string } {
  const home = mkdtempSync(join(tmpdir(), 'coppice-config-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const file = join(home, 'config.toml')
  if (text !== undefined) writeFileSync(file, text)
  return { home, file }
}

describe('readConfig', () => {
  it('is empty without a file', async () => expect(await readConfig(homeWith().home)).toEqual({}))

  it('knows its three settings', async () => {
    const { home } = homeWith('vault = "base"\nengine = \'lmdb\'\ndurability = "full" # slow\n')
    expect(await readConfig(home)).toEqual({ vault: 'base', engine: 'lmdb', durability: 'full' })
  })

  it.each([
    ['\nvalut = "base"', 2, "there is no setting 'valut'; known: vault, engine, durability"],
    ['# a\n\n[engine]\nname = "lmdb"', 3, 'engine is one of sqlite, lmdb'],
    ['vault = "a"\nengine = "oracle"', 2, 'engine is one of sqlite, lmdb'],
    ['durability = 3', 1, 'durability is one of full, process, relaxed, not 3'],
    ['vault = 1', 1, 'vault is a name in quotes, not 1'],
    ['vault = "a"\nvault = "b"', 2, 'not valid TOML'],
    ['constructor = 1', 1, "there is no setting 'constructor'"],
  ])('refuses %j with file and line', async (text, line, problem) => {
    const { home, file } = homeWith(text)
    await expect(readConfig(home)).rejects.toThrow(`${file}:${line}: ${problem}`)
  })
})

describe('setConfig', () => {
  it('changes its key and leaves the rest as it is, comments included', async () => {
    const text = '# my home\r\n  vault = \'old\'   # the one I use\r\n\n# fast\ndurability = "relaxed"'
    const { home, file } = homeWith(text)
    await setConfig(home, 'vault', 'new')
    expect(readFileSync(file, 'utf8')).toBe(text.replace("'old'", '"new"'))
    await setConfig(home, 'engine', 'lmdb')
    expect(readFileSync(file, 'utf8')).toBe(`${text.replace("'old'", '"new"')}\nengine = "lmdb"\n`)
  })

  it('drops a key', async () => {
    const { home, file } = homeWith('# a\nvault = "old" # b\nengine = "sqlite"\n')
    await setConfig(home, 'vault', undefined)
    expect(readFileSync(file, 'utf8')).toBe('# a\nengine = "sqlite"\n')
  })

  it('refuses to change what it cannot find, and leaves the file alone', async () => {
    const text = 'vault = """\nold"""\n'
    const { home, file } = homeWith(text)
    await expect(setConfig(home, 'vault', 'new')).rejects.toThrow('by hand')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})
