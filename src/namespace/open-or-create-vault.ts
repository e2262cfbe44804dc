import type { Home, Vault } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'

/** A vault by its name, or a new one; another process may make it at this very moment. */
export async function openOrCreateVault(
  home: Home,
  name: string,
  make: (home: Home) => Promise<Vault>,
): Promise<Vault> {
  if ((await home.vaults()).includes(name)) return home.vault(name)
  try {
    return await make(home)
  } catch (error) {
    if (!isVfsError(error, 'EEXIST')) throw error
    return home.vault(name)
  }
}
