import type { Home, Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT, findReservedPurpose, ZONES_VAULT } from '../config/index.ts'
import { VfsError } from '../vfs/index.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

/** The vault of a context. */
export interface WorkspaceSelection {
  readonly vault: string
  /** Works in this fork of it, which is created if missing. */
  readonly fork?: string | undefined
}

/**
 * Opens the vault for `/workspace`. ENOENT. Throws EINVAL if the fork's name is taken by another vault, or if the
 * context could write to reserved vaults.
 */
export async function openWorkspace(home: Home, { vault, fork }: WorkspaceSelection): Promise<Vault> {
  for (const name of [vault, fork]) if (name !== undefined) assertNotReserved(name)
  // Reports a missing vault before it looks for a fork.
  const { from: origin } = await home.info(vault)
  // Forks of the mirrors of linked directories are allowed.
  if (origin?.vault === ZONES_VAULT || origin?.vault === BOUNDARY_VAULT) {
    throw createWorkspaceError(`'${vault}' is a fork of the vault that ${findReservedPurpose(origin.vault)}`)
  }
  if (fork === undefined) return home.vault(vault)
  const opened = await openOrCreateVault(home, fork, () => home.fork(vault, fork))
  const { from } = await home.info(fork)
  if (from?.vault === vault) return opened
  const lineage = from === undefined ? 'is not a fork' : `is a fork of '${from.vault}'`
  const detail = `'${fork}' ${lineage}, not of '${vault}'; choose another name`
  throw new VfsError('EINVAL', '/workspace', { op: 'fork', detail })
}

/** Throws EINVAL if the name is that of a reserved vault. */
export function assertNotReserved(name: string): void {
  const kept = findReservedPurpose(name)
  if (kept !== undefined) throw createWorkspaceError(`'${name}' is the vault that ${kept}`)
}

function createWorkspaceError(what: string): VfsError {
  return new VfsError('EINVAL', '/workspace', {
    op: 'open',
    detail: `${what}, so it cannot be a workspace; choose another`,
  })
}
