import { describe, expect, it } from 'vitest'
import { diff, readText } from '../../vfs/index.ts'
import { openHome } from './open-home.ts'

async function listPaths(changes: AsyncIterable<{ kind: string; path: string }>): Promise<string[]> {
  return Array.fromAsync(changes, ({ kind, path }) => `${kind} ${path}`)
}

describe('a moment of a vault', () => {
  it('has the files after each row, with and without a stored tree near it', async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    const texts: string[] = []
    for (let at = 1; at <= 30; at++) {
      await vault.write('/a.txt', `text ${at}\n`)
      texts[await vault.getLastRow()] = `text ${at}\n`
      if (at === 10) await vault.checkpoint('ten')
      if (at === 20) await vault.rename('/a.txt', '/b.txt').then(() => vault.rename('/b.txt', '/a.txt'))
    }
    for (const [row, text] of texts.entries()) {
      if (text === undefined) continue
      expect(await readText(await vault.openMoment({ row }), '/a.txt')).toBe(text)
    }
    const begin = await vault.openMoment({ row: 0 })
    expect(await begin.exists('/a.txt')).toBe(false)
    expect(await vault.getCheckpointRow('ten')).toBe(texts.indexOf('text 10\n'))
  })

  it('goes through restores, merges and removals, and back beyond the fork', async () => {
    await using home = await openHome()
    const base = await home.createVault('base')
    await base.write('/kept', 'one')
    const early = await base.getLastRow()
    await base.checkpoint('start')
    await base.write('/kept', 'two')
    const fork = await home.fork('base', 'task')
    await fork.write('/new', 'n')
    await home.merge('task', 'base')
    const merged = await base.getLastRow()
    await base.remove('/new')
    await base.restore('start')
    await base.write('/last', 'l')
    expect(await (await base.openMoment({ row: merged })).exists('/new')).toBe(true)
    expect(await (await base.openMoment({ row: merged + 1 })).exists('/new')).toBe(false)
    expect(await readText(await base.openMoment({ row: merged + 2 }), '/kept')).toBe('one')
    expect(await readText(await fork.openMoment({ row: early }), '/kept')).toBe('one')
    expect(await readText(await fork.openMoment('fork'), '/kept')).toBe('two')
  })

  it('is compared with another moment, also of another vault', async () => {
    await using home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', 'a')
    await base.write('/b', 'b')
    const before = await base.getLastRow()
    await base.rename('/a', '/c')
    await base.write('/b', 'bb')
    const fork = await home.fork('base', 'task')
    await fork.write('/d', 'd')
    const [old, now, task] = [
      await base.openMoment({ row: before }),
      await base.openMoment('now'),
      await fork.openMoment('now'),
    ]
    expect(await listPaths(diff(old, now))).toEqual(['modified /b', 'renamed /c'])
    expect(await listPaths(diff(now, old))).toEqual(['renamed /a', 'modified /b'])
    expect(await listPaths(diff(now, task))).toEqual(['added /d'])
    expect(await listPaths(diff(old, task))).toEqual(['modified /b', 'renamed /c', 'added /d'])
  })

  it('refuses changes, rows that do not exist, and unknown checkpoints', async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/a', 'a')
    const moment = await vault.openMoment('now')
    await expect(moment.write('/a', 'b')).rejects.toMatchObject({ code: 'EROFS' })
    await expect(vault.openMoment({ row: 99 })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(vault.openMoment({ checkpoint: 'none' })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(vault.openMoment('fork')).rejects.toMatchObject({ code: 'EINVAL' })
    await vault.write('/a', 'later')
    expect(await readText(moment, '/a')).toBe('a')
  })

  it('knows who wrote each line of a file as it was then', async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    const by = (context: string) => ({ caller: { kind: 'context', context } }) as const
    await vault.write('/a', 'one\ntwo\n', {}, by('ann'))
    await vault.write('/a', 'one\ntwo\nthree\n', {}, by('bob'))
    const row = await vault.getLastRow()
    await vault.write('/a', 'ONE\n', {}, by('cem'))
    await vault.rename('/a', '/b')
    const then = await vault.blame('/a', row)
    expect(then.map(({ text, caller }) => [text, caller])).toEqual([
      ['one', by('ann').caller],
      ['two', by('ann').caller],
      ['three', by('bob').caller],
    ])
    expect((await vault.blame('/b')).map(({ text }) => text)).toEqual(['ONE'])
    await expect(vault.blame('/b', row)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('can be forked, and the fork merged', async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    for (let at = 0; at < 300; at++) await vault.write(`/d${at % 7}/f${at}`, `${at}\n`)
    const row = await vault.getLastRow()
    await vault.write('/d0/f0', 'later\n')
    await vault.remove('/d1', { recursive: true })
    const fork = await home.fork('base', 'then', { row })
    expect(await listPaths(diff(await vault.openMoment({ row }), await fork.openMoment('now')))).toEqual([])
    await fork.write('/d2/new', 'n\n')
    expect(await listPaths(fork.diff())).toEqual(['added /d2/new'])
    await home.merge('then', 'base')
    expect(await readText(vault, '/d2/new')).toBe('n\n')
    expect(await readText(vault, '/d0/f0')).toBe('later\n')
    expect(await vault.exists('/d1')).toBe(false)
    expect((await home.fsck()).damaged).toEqual([])
    await expect(home.fork('base', 'then', { row })).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(home.fork('base', 'other', { row: 9999 })).rejects.toMatchObject({ code: 'EINVAL' })
  })
})
