import type { Home, Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT, findReservedPurpose, ZONES_VAULT } from '../config/index.ts'
import { VfsError } from '../vfs/index.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

/** Which vault a context works in. */
export interface WorkspaceSelection {
  readonly vault: string
  /** Work in a fork of it by this name, made if there is none. */
  readonly fork?: string | undefined
}

/**
 * Opens the vault that becomes `/workspace`. ENOENT, EINVAL if the fork's name belongs to something else, or if it would
 * let the context write in the zones of everyone or in what the execution boundary keeps.
 */
export async function openWorkspace(home: Home, { vault, fork }: WorkspaceSelection): Promise<Vault> {
  for (const name of [vault, fork]) if (name !== undefined) assertNotReserved(name)
  // Reports a missing vault before it looks for a fork.
  const { from: origin } = await home.info(vault)
  // Forks of what linked directories begin from are there to work in.
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

/** Refuses the name of a vault that is kept for something else than a workspace. EINVAL. */
export function assertNotReserved(name: string): void {
  const kept = findReservedPurpose(name)
  if (kept !== undefined) throw createWorkspaceError(`'${name}' is the vault that ${kept}`)
}

function createWorkspaceError(what: string): VfsError {
  return new VfsError('EINVAL', '/workspace', {
    op: 'open',
    detail: `${what}, and no workspace; choose another`,
  })
}
