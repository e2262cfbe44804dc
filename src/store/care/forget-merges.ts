import { isVfsError } from '../../vfs/index.ts'
import { keepMergePoints, mergePoints } from '../files/attachments.ts'
import type { StoreHome } from '../home.ts'
import { decodeHead, vaultPrefix } from '../vault/head.ts'
import { knownVaults } from './roots.ts'

/**
 * Removes from every vault the merge points of vaults that are gone: each holds a whole tree, and nothing that could
 * be merged again has it in its past.
 */
export async function forgetMerges(home: StoreHome): Promise<void> {
  const { reader } = home
  const heads = await reader.resolve(() =>
    reader.records(vaultPrefix).flatMap(({ key, bytes }) => {
      return bytes === null ? [] : [{ name: key.slice(vaultPrefix.length), ...decodeHead(bytes) }]
    }),
  )
  const known = knownVaults(heads)
  for (const { name, root } of heads) {
    try {
      const points = await reader.resolve(() => mergePoints(home.filesAt(root)))
      if (points.every(({ vault }) => known.has(vault))) continue
      const log = await home.vault(name)
      await log.fold({ frees: true, tidy: (files) => keepMergePoints(files, known) })
    } catch (error) {
      // Deleted meanwhile, or damaged, which is told when everything is followed.
      if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'EIO')) throw error
    }
  }
}
