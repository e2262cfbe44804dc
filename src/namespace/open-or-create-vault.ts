import type { Home, Vault } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'

/** Opens a vault, or creates it with `create`. Another process may create it at the same time. */
export async function openOrCreateVault(
  home: Home,
  name: string,
  create: (home: Home) => Promise<Vault>,
): Promise<Vault> {
  const existing = await home.vault(name).catch((error: unknown) => {
    if (!isVfsError(error, 'ENOENT')) throw error
  })
  if (existing !== undefined) return existing
  try {
    return await create(home)
  } catch (error) {
    if (!isVfsError(error, 'EEXIST')) throw error
    return home.vault(name)
  }
}
