import type { Home, OnConflict, TextSides } from '../../backends/vault/index.ts'
import type { CallContext, PathChange } from '../../vfs/index.ts'
import { LinkedDirectory, type TreeChange } from '../link/index.ts'
import type { PendingMerge } from './pending-merge.ts'

export interface PerformOptions extends Pick<CallContext, 'caller' | 'trace' | 'signal'> {
  /** Resolution of conflicts that have none of their own. */
  readonly onConflict?: OnConflict
  /** Changes nothing, and returns what would change. */
  readonly isTrial?: boolean
  /** Called with the versions of each text file in conflict, resolved or not. */
  readonly onTextConflict?: (path: string, sides: TextSides) => void
}

/** Changes of a performed merge: those of vaults, or those of a directory and its forks. */
export type PerformedMerge =
  | { readonly kind: 'vault'; readonly changes: readonly PathChange[] }
  | { readonly kind: 'fork' | 'apply'; readonly changes: readonly TreeChange[] }

/**
 * Performs a merge with its resolutions, all or nothing. Throws `MergeError` or `ApplyError` with the conflicts that have
 * no resolution.
 */
export async function performMerge(
  home: Home,
  merge: PendingMerge,
  { isTrial = false, onConflict = 'fail', onTextConflict, ...ctx }: PerformOptions,
): Promise<PerformedMerge> {
  const { sources, target, resolutions } = merge
  const [source = ''] = sources
  const conflicts = { resolutions, onTextConflict }
  const { signal: _signal, ...provenance } = ctx
  if (merge.kind === 'vault') {
    const options = { ...provenance, ...conflicts, onConflict, isTrial, isUndoable: true }
    return { kind: 'vault', changes: await home.merge(source, target, options) }
  }
  const link = new LinkedDirectory(home, merge.directory ?? target)
  if (merge.kind === 'fork') {
    const forks = [await link.getFork(source), await link.getFork(target)] as const
    const options = {
      ...provenance,
      conflicts,
      isTrial,
      onConflict: onConflict === 'markers' ? 'both' : onConflict,
    } as const
    return { kind: 'fork', changes: await link.mergeForks(...forks, options) }
  }
  const forks = await Promise.all(sources.map((name) => link.getFork(name)))
  const { paths, keepSetuid = false } = merge
  const selection = { keepSetuid, ...(paths !== undefined && { paths }) }
  const mergeMode = onConflict === 'markers' ? 'markers' : 'strict'
  const context = { ...ctx, ...selection, conflicts, isTrial, merge: mergeMode } as const
  return { kind: 'apply', changes: await link.apply(forks, context) }
}
