import { describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { type Home, openHome } from './index.ts'

async function started(): Promise<Home> {
  const home = await openHome()
  await (await home.createVault('base')).write('/f', 'one\ntwo\nthree\n')
  return home
}

const sum = (changes: readonly { kind: string; path: string }[]) =>
  changes.map(({ kind, path }) => `${kind} ${path}`)

describe('a race', () => {
  it('gives each lane its own fork, and reports its outcome and changes', async () => {
    const home = await started()
    const race = await home.race('base', 3, async (vault, index) => {
      await vault.write(`/lane-${index}`, 'x')
      if (index === 1) await vault.remove('/f')
      return index * 10
    })
    expect(race.lanes.map(({ outcome }) => outcome)).toEqual(
      [0, 10, 20].map((value) => ({ status: 'fulfilled', value })),
    )
    expect(race.lanes.map(({ changes }) => sum(changes))).toEqual([
      ['added /lane-0'],
      ['deleted /f', 'added /lane-1'],
      ['added /lane-2'],
    ])
    expect((await home.vaults()).sort()).toEqual(['base', ...race.lanes.map(({ name }) => name)].sort())
    expect(sum(await race.keep(1))).toEqual(['deleted /f', 'added /lane-1'])
    expect(await home.vaults()).toEqual(['base'])
    const base = await home.vault('base')
    expect(await Array.fromAsync(base.walk('/'), ({ path }) => path)).toEqual(['/lane-1'])
  })

  it('continues when a lane fails, and reports its changes', async () => {
    const home = await started()
    const race = await home.race('base', 2, async (vault, index) => {
      await vault.write('/half', `${index}`)
      if (index === 0) throw new Error('lost')
      return 'won'
    })
    expect(race.lanes.map(({ outcome }) => outcome.status)).toEqual(['rejected', 'fulfilled'])
    expect(race.lanes[0]?.outcome).toMatchObject({ reason: { message: 'lost' } })
    expect(race.lanes.map(({ changes }) => sum(changes))).toEqual([['added /half'], ['added /half']])
    await race.keep(1)
    expect(await readText(await home.vault('base'), '/half')).toBe('1')
  })

  it('leaves everything unchanged when the lane to keep conflicts, and another option can keep it', async () => {
    const home = await started()
    const race = await home.race('base', 2, (vault, index) =>
      vault.write('/f', `one\nlane ${index}\nthree\n`),
    )
    const base = await home.vault('base')
    await base.write('/f', 'one\nmeanwhile\nthree\n')
    await expect(race.keep(0)).rejects.toMatchObject({ code: 'ECONFLICT', conflicts: [{ path: '/f' }] })
    expect(await readText(base, '/f')).toBe('one\nmeanwhile\nthree\n')
    expect((await home.vaults()).length).toBe(3)
    await race.keep(0, { onConflict: 'theirs' })
    expect(await readText(base, '/f')).toBe('one\nlane 0\nthree\n')
    expect(await home.vaults()).toEqual(['base'])
  })

  it('drops all lanes, also deleted ones, and can be dropped twice', async () => {
    const home = await started()
    const race = await home.race('base', 3, async () => {})
    await home.deleteVault(race.lanes[0]?.name ?? '')
    await race.drop()
    await race.drop()
    expect(await home.vaults()).toEqual(['base'])
    expect(await readText(await home.vault('base'), '/f')).toBe('one\ntwo\nthree\n')
  })

  it('throws for a lane out of range, and may have none', async () => {
    const home = await started()
    const race = await home.race('base', 1, async () => {})
    for (const index of [1, -1, 0.5]) await expect(race.keep(index)).rejects.toThrow(RangeError)
    await race.drop()
    expect((await home.race('base', 0, async () => {})).lanes).toEqual([])
    await expect(home.race('missing', 1, async () => {})).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('names any number of lanes of a vault with a long name', async () => {
    const home = await openHome()
    await home.createVault('x'.repeat(64))
    const race = await home.race('x'.repeat(64), 12, async () => {})
    expect(race.lanes.length).toBe(12)
    await race.drop()
  })

  it('treats a lane that throws synchronously as failed', async () => {
    const home = await started()
    const race = await home.race('base', 2, (_, index) => {
      if (index === 0) throw new Error('at once')
      return Promise.resolve(index)
    })
    expect(race.lanes.map(({ outcome }) => outcome.status)).toEqual(['rejected', 'fulfilled'])
  })
})
