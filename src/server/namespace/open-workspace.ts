import type { Home, Vault } from '../../backends/vault/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { existingOrNew } from './existing-or-new.ts'

/** Which vault a context works in. */
export interface WorkspaceChoice {
  readonly vault: string
  /** Work in a fork of it by this name, made if there is none. */
  readonly fork?: string | undefined
}

/** Opens the vault that becomes `/workspace`. ENOENT, EINVAL if the fork's name belongs to something else. */
export async function openWorkspace(home: Home, { vault, fork }: WorkspaceChoice): Promise<Vault> {
  if (fork === undefined) return home.vault(vault)
  // A missing vault is told before a fork of it is looked for.
  await home.info(vault)
  const opened = await existingOrNew(home, fork, () => home.fork(vault, fork))
  const { from } = await home.info(fork)
  if (from?.vault === vault) return opened
  const origin = from === undefined ? 'is not a fork' : `is a fork of '${from.vault}'`
  const detail = `'${fork}' ${origin}, not of '${vault}'; choose another name`
  throw new VfsError('EINVAL', '/workspace', { op: 'fork', detail })
}
