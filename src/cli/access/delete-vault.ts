import { replaceCurrentVault } from '../../config/index.ts'
import type { OpenHome } from './home-access.ts'

/**
 * Deletes a vault. If it was the current vault, the one it was forked from becomes current, or none. Returns the
 * current vault. ENOENT.
 */
export async function deleteVault(
  { home, path }: Pick<OpenHome, 'home' | 'path'>,
  name: string,
): Promise<string | undefined> {
  const { from } = await home.info(name)
  await home.deleteVault(name)
  return replaceCurrentVault(path, { name, from: from?.vault }, await home.vaults())
}
