import { expect, it } from 'vitest'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { forkVault } from '../fork-vault.ts'
import { StoreHome } from '../store-home.ts'
import type { VaultLog } from './vault-log.ts'

it('reads the rows of a fork whose ancestor has lost its own', async () => {
  const home = new StoreHome(new MemoryEngine())
  const base = await home.createVault('base')
  await makeDirectories(base, ['/a', '/b'])
  const fork = await forkVault(home, 'base', 'fork')
  await makeDirectories(fork, ['/c'])
  await makeDirectories(base, ['/d'])
  await home.engine.commit({ sweep: { journal: [{ vault: base.head.id, upTo: 2 }] } })
  expect(fork.journal.readAfter(0)).toMatchObject([{ seq: 3, operation: { path: '/c' } }])
  await home.close()
})

async function makeDirectories(log: VaultLog, paths: readonly string[]): Promise<void> {
  for (const path of paths) await log.submit(() => ({ op: 'mkdir', path, parents: true }))
}
