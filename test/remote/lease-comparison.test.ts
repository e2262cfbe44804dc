import { expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import { type Batch, DelayedEngine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { tapEngine } from '../support/tap-engine.ts'

const store = new MemoryEngine()

/** Opens a home on a remote engine, which notes for each commit with journal rows if it compares the lease. */
function openNoting(noted: boolean[]): Home {
  const before = (call: string, [batch]: readonly unknown[]) => {
    if (call === 'commit' && isBatch(batch) && batch.journal !== undefined && batch.journal.length > 0)
      noted.push(batch.expect?.some(({ key }) => key.startsWith('lease/')) === true)
  }
  return new Home(new StoreHome(tapEngine(new DelayedEngine(store, { isNotified: true }), { before })))
}

function isBatch(value: unknown): value is Batch {
  return typeof value === 'object' && value !== null
}

it('compares the lease of a vault only after rows of others, who may have taken it', async () => {
  const noted: boolean[] = []
  const vault = await openNoting(noted).createVault('base')
  for (let number = 0; number < 3; number++) await vault.write(`/${number}`, 'x')
  expect(noted).toEqual([true, false, false])
  await (await openNoting([]).vault('base')).write('/other', 'x')
  noted.length = 0
  expect(await vault.exists('/other')).toBe(true)
  await vault.write('/3', 'x')
  await vault.write('/4', 'x')
  expect(noted).toEqual([true, false])
})
