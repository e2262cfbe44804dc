import { readConfig, setConfig } from './config-file.ts'
import { isInternalVault } from './reserved-vaults.ts'

/** A vault that was deleted. */
interface ReplacedVault {
  readonly name: string
  /** The vault that it was forked from. */
  readonly from: string | undefined
}

/**
 * Chooses another current vault if a deleted one was it: the vault it was forked from, or none. Returns the current vault.
 *
 * @param names the vaults that are left.
 */
export async function replaceCurrentVault(
  home: string,
  { name, from }: ReplacedVault,
  names: readonly string[],
): Promise<string | undefined> {
  const { vault } = await readConfig(home)
  if (vault !== name) return vault
  const next = from !== undefined && names.includes(from) && !isInternalVault(from) ? from : undefined
  await setConfig(home, 'vault', next)
  return next
}
