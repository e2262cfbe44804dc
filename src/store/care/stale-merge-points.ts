import { isVfsError } from '../../vfs/index.ts'
import { listMergePoints, retainMergePoints } from '../files/attachments.ts'
import type { StoreHome } from '../store-home.ts'
import { decodeHead, vaultPrefix } from '../vault/vault-head.ts'
import { collectVaultIds } from './gc-roots.ts'

/**
 * Removes the merge points of deleted vaults from every vault, unless the deleted one has a fork: each holds a whole
 * tree, and no future merge can use it.
 */
export async function removeStaleMergePoints(home: StoreHome): Promise<void> {
  const { reader } = home
  const heads = await reader.run(() =>
    reader.listRecords(vaultPrefix).flatMap(({ key, bytes }) => {
      return bytes === null ? [] : [{ name: key.slice(vaultPrefix.length), ...decodeHead(bytes) }]
    }),
  )
  const vaults = collectVaultIds(heads)
  for (const { name, root } of heads) {
    try {
      const points = await reader.run(() => listMergePoints(home.trees.getFilesAt(root)))
      if (points.every(({ vault }) => vaults.has(vault))) continue
      const log = await home.openVault(name)
      await log.flushPages({ frees: true, tidy: (files) => retainMergePoints(files, vaults) })
    } catch (error) {
      // Deleted meanwhile, or damaged: the mark phase reports that.
      if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'EIO')) throw error
    }
  }
}
