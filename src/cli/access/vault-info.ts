import { type Home, isTrackingName, type VaultInfo } from '../../backends/vault/index.ts'

/**
 * Returns a summary of a vault. One that was pulled from another home has no origin: it is a fork of the hidden vault with
 * the state of both homes, into which nobody may merge. ENOENT.
 */
export async function readVaultInfo(home: Home, name: string): Promise<VaultInfo> {
  const { from, ...info } = await home.info(name)
  return from === undefined || isTrackingName(from.vault) ? info : { ...info, from }
}
