import type { Home, Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT, findReservedPurpose, ZONES_VAULT } from '../config/index.ts'
import { VfsError } from '../vfs/index.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

/** Selects the vault for `/workspace`. */
export interface WorkspaceSelection {
  readonly vault: string
  /** Works in this fork of it, which is created if missing. */
  readonly fork?: string | undefined
}

/**
 * Opens the vault for `/workspace`, and creates a missing fork. ENOENT if the vault does not exist. EINVAL if the fork's
 * name is that of another vault, or if a name is reserved.
 */
export async function openWorkspace(home: Home, { vault, fork }: WorkspaceSelection): Promise<Vault> {
  for (const name of [vault, fork]) if (name !== undefined) assertNotReserved(name)
  // Reports a missing vault before it looks for a fork.
  const { from: origin } = await home.info(vault)
  // A fork of a mirror is allowed: it is a fork of a directory.
  if (origin?.vault === ZONES_VAULT || origin?.vault === BOUNDARY_VAULT) {
    throw createWorkspaceError(`'${vault}' is a fork of the vault that ${findReservedPurpose(origin.vault)}`)
  }
  if (fork === undefined) return home.vault(vault)
  const opened = await openOrCreateVault(home, fork, () => home.fork(vault, fork))
  const { from } = await home.info(fork)
  if (from?.vault === vault) return opened
  const lineage = from === undefined ? 'is a vault, not a fork' : `is a fork of '${from.vault}', not`
  const detail = `'${fork}' ${lineage} of '${vault}'; choose another name`
  throw new VfsError('EINVAL', '/workspace', { op: 'fork', detail })
}

/** Throws EINVAL if the name is that of a reserved vault. */
export function assertNotReserved(name: string): void {
  const purpose = findReservedPurpose(name)
  if (purpose !== undefined) throw createWorkspaceError(`'${name}' is the vault that ${purpose}`)
}

function createWorkspaceError(fact: string): VfsError {
  return new VfsError('EINVAL', '/workspace', {
    op: 'open',
    detail: `${fact}, so it cannot be a workspace; choose another`,
  })
}
