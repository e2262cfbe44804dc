import { isMergeStateName } from '../../backends/vault/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome } from '../link/index.ts'

/** Deletes the states around merges into vaults that were deleted since. Returns their number. */
export async function sweepMergeStates(
  home: Pick<LinkHome, 'vaults' | 'info' | 'deleteVault'>,
): Promise<number> {
  const names = new Set(await home.vaults())
  let count = 0
  for (const name of [...names].filter(isMergeStateName)) {
    try {
      const { from } = await home.info(name)
      if (from !== undefined && names.has(from.vault)) continue
      await home.deleteVault(name)
      count++
    } catch (error) {
      // Another process deleted it first.
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
  return count
}
