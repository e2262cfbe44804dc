import { expect, it } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import { createProcessTag } from '../../machine/index.ts'
import { ForkPoint, sweepForkPoints } from './fork-point.ts'

it('the sweep deletes the forks of dead processes, and no other vault', async () => {
  await using home = await openHome()
  await home.createVault('base')
  await using living = await ForkPoint.create(home, 'base')
  // The same process id with another start time.
  const dead = createProcessTag().replace(/-\d+-([0-9a-f]+)$/, '-1-$1')
  const elsewhere = dead.replace(/^.{8}/, '00000000')
  const others = [`session-${elsewhere}-base`, 'session-4026531836-424242-777-aabbccddeeff', 'session-plan']
  for (const name of [`session-${dead}`, `session-${dead}-base`, ...others]) await home.createVault(name)
  await sweepForkPoints(home)
  expect((await home.vaults()).sort()).toEqual(['base', living.vault, ...others].sort())
})

it('a sweep tolerates a concurrent one', async () => {
  await using home = await openHome()
  const dead = createProcessTag().replace(/-\d+-([0-9a-f]+)$/, '-1-$1')
  for (const name of [`session-${dead}`, `session-${dead}-base`]) await home.createVault(name)
  const vaults = async () => {
    const names = await home.vaults()
    await sweepForkPoints(home)
    return names
  }
  await sweepForkPoints({ vaults, deleteVault: (name) => home.deleteVault(name) })
  expect(await home.vaults()).toEqual([])
})
