import type { Home } from '../../backends/vault/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import { filterUserVaults } from './vault-names.ts'

/**
 * Lists the vaults that a command without `--vault` may choose from. A fork of a directory is among them only in that
 * directory: elsewhere, nobody means it.
 */
export async function listDefaultVaults(home: Home): Promise<string[]> {
  const { isMirrorName } = await import('../../backends/vault/index.ts')
  const all = await home.vaults()
  const names = filterUserVaults(all)
  if (!all.some(isMirrorName)) return names
  const { listLinkedForkNames } = await import('./linked-access.ts')
  const own = new Set(await listLinkedForkNames(home))
  const origins = await Promise.all(names.map((name) => findOrigin(home, name)))
  return names.filter((name, index) => own.has(name) || !isMirrorName(origins[index] ?? ''))
}

/** Returns the vault that a fork was made from. Undefined for any other vault, and for one that is gone. */
async function findOrigin(home: Home, name: string): Promise<string | undefined> {
  try {
    return (await home.info(name)).from?.vault
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}
