import { expect, it } from 'vitest'
import { MemoryEngine } from './engines/memory-engine.ts'
import { forkVaultAt } from './fork-vault.ts'
import type { Batch } from './index.ts'
import { StoreHome } from './store-home.ts'
import { createCheckpoint } from './vault/create-checkpoint.ts'

/** An engine on which a checkpoint disappears right before a vault is recorded. */
class RacingEngine extends MemoryEngine {
  removed: string | undefined

  override commit(batch: Batch): boolean {
    const { removed } = this
    this.removed = undefined
    if (removed !== undefined) super.commit({ records: [{ key: removed, bytes: null }] })
    return super.commit(batch)
  }
}

it('reports a checkpoint that was removed meanwhile, not a vault that exists', async () => {
  const engine = new RacingEngine()
  const home = new StoreHome(engine)
  const base = await home.createVault('base')
  await createCheckpoint(base, home.getCheckpoints(base), 'before')
  engine.removed = `checkpoint/${base.head.id}/before`
  await expect(forkVaultAt(home, 'base', 'before', 'fork')).rejects.toMatchObject({ code: 'ECONFLICT' })
  await home.close()
})
