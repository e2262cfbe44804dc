import { isInternalVault, ZONES_VAULT } from '../../config/index.ts'

/** Name of a process's fork, never chosen by default. */
const PROCESS_FORK = /^agent-[0-9a-f]{8}$/

/** Filters the vaults of the user's own files, which commands may choose by default. */
export function filterUserVaults(names: readonly string[]): string[] {
  return filterVisibleVaults(names).filter((name) => name !== ZONES_VAULT && !PROCESS_FORK.test(name))
}

/** Filters out internal vaults, such as mirrors of directories and the journal of commands. */
export function filterVisibleVaults(names: readonly string[]): string[] {
  return names.filter((name) => !isInternalVault(name))
}
