import type { Home, Vault } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'

/** Opens a vault, or creates it. Another process may create it at the same time. */
export async function openOrCreateVault(
  home: Home,
  name: string,
  make: (home: Home) => Promise<Vault>,
): Promise<Vault> {
  const known = await home.vault(name).catch((error: unknown) => {
    if (!isVfsError(error, 'ENOENT')) throw error
  })
  if (known !== undefined) return known
  try {
    return await make(home)
  } catch (error) {
    if (!isVfsError(error, 'EEXIST')) throw error
    return home.vault(name)
  }
}
