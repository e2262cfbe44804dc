import type { StoreHome } from './store-home.ts'
import { type Checkpoint, Checkpoints } from './vault/checkpoints.ts'
import type { ExtraRecords } from './vault/pending-operation.ts'
import { type VaultHead, vaultKey } from './vault/vault-head.ts'
import type { VaultLog } from './vault/vault-log.ts'
import { assertVaultName, createVaultExistsError } from './vault-name.ts'

/**
 * Checks the names of a vault and its checkpoint before the tree is built. EINVAL if one is invalid, EEXIST if the
 * vault's is taken.
 */
export async function assertAdoptable(
  home: StoreHome,
  name: string,
  checkpoint?: Pick<Checkpoint, 'name'>,
): Promise<void> {
  assertVaultName(name)
  await home.reader.run(() => {
    if (home.reader.readRecord(vaultKey(name)) !== undefined) throw createVaultExistsError(name)
    // No vault has number 0: this only validates the name.
    if (checkpoint !== undefined) new Checkpoints(home.reader, 0).assertFree(checkpoint.name)
  })
}

/**
 * Creates a vault, and a checkpoint of it, from a stored tree that nothing refers to yet. Fails as `assertAdoptable`.
 *
 * @param extraRecords only their expectations count.
 */
export async function adoptTree(
  home: StoreHome,
  name: string,
  root: number,
  checkpoint?: Pick<Checkpoint, 'name' | 'uid' | 'description' | 'meta'>,
  extraRecords: ExtraRecords = () => ({}),
): Promise<VaultLog> {
  await assertAdoptable(home, name, checkpoint)
  const time = Date.now()
  const id = await home.reader.run(() => home.ids.next())
  const head: VaultHead = { id, root, seq: 0, created: time, lineage: [] }
  const checkpoints = new Checkpoints(home.reader, id)
  const records =
    checkpoint === undefined ? [] : [checkpoints.toRecord({ ...checkpoint, root, seq: 0, time })]
  const { expect = [] } = await home.reader.run(extraRecords)
  return home.recordVault(name, head, { expect, records })
}
