import { describe, expect, it } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

describe('existingOrNew', () => {
  it('opens the vault that another process created meanwhile', async () => {
    await using home = await openHome()
    const vault = await openOrCreateVault(home, 'zones', async () => {
      const winner = await home.createVault('zones')
      await winner.write('/by', 'the other')
      return home.createVault('zones')
    })
    expect(await vault.exists('/by')).toBe(true)
  })

  it('creates nothing if the vault exists', async () => {
    await using home = await openHome()
    await home.createVault('zones')
    const make = () => Promise.reject(new Error('asked to make one'))
    expect((await openOrCreateVault(home, 'zones', make)).name).toBe('zones')
  })

  it('passes on any other failure', async () => {
    await using home = await openHome()
    const make = () => Promise.reject(new Error('no luck'))
    await expect(openOrCreateVault(home, 'zones', make)).rejects.toThrow('no luck')
  })
})
