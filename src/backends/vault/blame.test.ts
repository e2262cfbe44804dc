import { describe, expect, it } from 'vitest'
import { openHome, type Vault } from './index.ts'

const by = (context: string, trace: string) => ({ caller: { kind: 'context', context }, trace }) as const

/** Each line with who brought it, and for which tool call. */
async function listLines(vault: Vault, path: string): Promise<string[]> {
  return (await vault.blame(path)).map(({ line, text, caller, trace }) => {
    const who = caller !== undefined && 'context' in caller ? caller.context : '-'
    return `${line} ${who} ${trace ?? '-'}: ${text}`
  })
}

describe('blame', () => {
  it('returns the author of each line, over many versions and several callers', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.write('/f', 'a\nb\nc\n', {}, by('alice', 'c1'))
    await vault.write('/f', 'a\nB\nc\n', {}, by('bob', 'c2'))
    await vault.append('/f', 'd\n', by('carol', 'c3'))
    await vault.write('/f', 'top\na\nB\nc\nd\n', {}, by('alice', 'c4'))
    await vault.rename('/f', '/g', {}, by('mover', 'c5'))
    await vault.write('/g', 'top\na\nc\nd\n')
    await vault.write('/g', 'top\na\nc\nd\na\n', {}, by('bob', 'c6'))
    expect(await listLines(vault, '/g')).toEqual([
      '1 alice c4: top',
      '2 alice c1: a',
      '3 alice c1: c',
      '4 carol c3: d',
      '5 bob c6: a',
    ])
  })

  it('returns readable versions that contain the line', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.write('/f', 'constructor\n__proto__\n')
    await vault.append('/f', 'toString')
    await vault.append('/f', 'X\nlast')
    for (const { text, version } of await vault.blame('/f')) {
      const content = Buffer.concat(await Array.fromAsync(vault.readVersion('/f', version))).toString()
      expect(content.split('\n')).toContain(text)
    }
    expect((await vault.blame('/f')).map(({ text }) => text)).toEqual([
      'constructor',
      '__proto__',
      'toStringX',
      'last',
    ])
  })

  it('credits a revert with the restored lines, and continues across a fork', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/f', 'a\nb\n', {}, by('alice', 'c1'))
    const [first] = await Array.fromAsync(base.versions('/f'))
    await base.write('/f', 'a\n', {}, by('bob', 'c2'))
    await base.revert('/f', first?.version ?? '', by('carol', 'c3'))
    const task = await home.fork('base', 'task')
    await task.append('/f', 'c\n', by('dave', 'c4'))
    expect(await listLines(task, '/f')).toEqual(['1 alice c1: a', '2 carol c3: b', '3 dave c4: c'])
    expect(await listLines(base, '/f')).toEqual(['1 alice c1: a', '2 carol c3: b'])
  })

  it('keeps the authors of lines a merge did not touch', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    for (const path of ['/f', '/g']) await base.write(path, '1\n2\n3\n4\n5\n', {}, by('alice', 'c1'))
    const task = await home.fork('base', 'task')
    for (const path of ['/f', '/g']) await task.write(path, '1\n2\n3\n4\nFIVE\n', {}, by('bob', 'c2'))
    await base.write('/f', 'ONE\n2\n3\n4\n5\n', {}, by('carol', 'c3'))
    await home.merge('task', 'base', by('merger', 'c4'))
    await base.rename('/g', '/h')
    const lines = await listLines(base, '/f')
    expect(lines.slice(0, 4)).toEqual(['1 carol c3: ONE', '2 alice c1: 2', '3 alice c1: 3', '4 alice c1: 4'])
    expect(lines[4]).toMatch(/^5 (merger c4|bob c2): FIVE$/)
    expect((await listLines(base, '/h')).slice(0, 4)).toEqual([1, 2, 3, 4].map((n) => `${n} alice c1: ${n}`))
  })

  it('is empty for an empty file, and rejects anything but a file', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.write('/d/empty', '')
    expect(await vault.blame('/d/empty')).toEqual([])
    await expect(vault.blame('/d')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(vault.blame('/never')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
