import type { Vault } from '../../backends/vault/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { OpenTreeRef } from './home-trees.ts'

/** Returns the journal row of the moment of a tree; undefined for its current state. */
export async function findRow({ ref, vault }: OpenTreeRef): Promise<number | undefined> {
  if (ref.kind === 'directory' || ref.at === undefined || vault === undefined) return undefined
  if (ref.at === 'base') return vault.getForkRow()
  return 'seq' in ref.at ? ref.at.seq : vault.getCheckpointRow(ref.at.checkpoint)
}

/** Returns the vault of a tree with a journal. EINVAL for a directory. */
export function requireVault({ vault }: OpenTreeRef): Vault {
  if (vault !== undefined) return vault
  throw createRequestError('a directory has no journal; choose one of its forks')
}

/** Throws EINVAL for an earlier state and for a directory, which cannot be changed. */
export function assertCurrent({ ref }: OpenTreeRef): void {
  if (ref.kind !== 'directory' && ref.at === undefined) return
  throw createRequestError('an earlier state cannot be changed; name the vault or fork itself')
}

export function createRequestError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'request', detail })
}
