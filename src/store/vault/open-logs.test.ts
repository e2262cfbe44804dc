import { queryObjects } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { StoreHome } from '../store-home.ts'
import { VaultLog } from './vault-log.ts'

const VAULTS = 100
/** More than stay open, and fewer than there are. */
const MOST_OPEN = 40

describe('the open logs of a home', () => {
  it('are let go when nobody uses them, but for the last', async () => {
    const home = new StoreHome(new MemoryEngine())
    for (let vault = 0; vault < VAULTS; vault++) await makeDirectory(await home.createVault(`v${vault}`))
    for (let vault = 0; vault < VAULTS; vault++) {
      expect((await home.openVault(`v${vault}`)).readFiles().findByPath('/made')).toBeDefined()
    }
    expect(await countLogs()).toBeLessThan(MOST_OPEN)
    await home.close()
  })

  it('are the same for all who use them, however many were opened since', async () => {
    const home = new StoreHome(new MemoryEngine())
    const used = await home.createVault('used')
    for (let vault = 0; vault < VAULTS; vault++) await home.createVault(`v${vault}`)
    await countLogs()
    await makeDirectory(used)
    expect(await home.openVault('used')).toBe(used)
    await home.close()
  })

  it('have their changes in pages when they are let go', async () => {
    const home = new StoreHome(new MemoryEngine())
    await makeDirectory(await home.createVault('first'))
    for (let vault = 0; vault < VAULTS; vault++) await home.createVault(`v${vault}`)
    await countLogs()
    const { head, seq } = await home.openVault('first')
    expect(seq).toBe(1)
    expect(head.seq).toBe(seq)
    await home.close()
  })
})

/** Counting collects what nobody uses; but what this turn of the event loop has looked at stays until its end. */
async function countLogs(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve))
  return queryObjects(VaultLog, { format: 'count' })
}

function makeDirectory(log: VaultLog): Promise<void> {
  return log.submit(() => ({ op: 'mkdir', path: '/made', parents: false }))
}
