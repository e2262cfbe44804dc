import { setConfig } from '../../config/index.ts'
import type { OpenHome } from './home-access.ts'

/**
 * Deletes a vault. If it was the current vault, the one it was forked from becomes current, or none. Returns the
 * current vault. ENOENT.
 */
export async function deleteVault(
  { home, path, config }: OpenHome,
  name: string,
): Promise<string | undefined> {
  const { from } = await home.info(name)
  await home.deleteVault(name)
  if (config.vault !== name) return config.vault
  const hasSource = from !== undefined && (await home.vaults()).includes(from.vault)
  const next = hasSource ? from.vault : undefined
  await setConfig(path, 'vault', next)
  return next
}
