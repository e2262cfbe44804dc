import { createHash } from 'node:crypto'
import {
  type FileChange,
  forkVault,
  type MergeRequest,
  mergeVaults,
  type Provenance,
  restoreVault,
  type StoreHome,
  type VaultLog,
} from '../../store/index.ts'
import { isVfsError, VfsError } from '../../vfs/index.ts'

const STATE_NAME = /^merge-[0-9a-f]{12}-(?:before|after)$/

/** Reports whether a vault keeps the state of another one before or after the last merge into it. */
export function isMergeStateName(vault: string): boolean {
  return STATE_NAME.test(vault)
}

/**
 * Merges as `mergeVaults` does, and keeps the states of the target before and after, so that the merge can be undone.
 * They replace those of the merge before. Both are forks: O(1). Returns what changed in the target: a conflict that
 * kept ours is no change.
 */
export async function mergeUndoably(home: StoreHome, request: MergeRequest): Promise<FileChange[]> {
  const { target } = request
  // A conflict leaves the last merge undoable.
  const planned = await mergeVaults(home, { ...request, isTrial: true })
  if (planned.length === 0) return mergeVaults(home, request)
  await deleteStates(home, target)
  const { before, after } = getStateNames(target)
  const from = await forkVault(home, target, before)
  try {
    const merged = await mergeVaults(home, request)
    const to = await forkVault(home, target, after)
    if (to.head.seq === from.head.seq + 1) return await diffStates(home, from, to)
    // Another process changed the target too: an undo would take its change with it.
    await deleteStates(home, target)
    return merged
  } catch (error) {
    await deleteStates(home, target)
    throw error
  }
}

/**
 * Undoes the last merge into a vault that `mergeUndoably` did, and returns the changes. ENOENT if there is none,
 * ECONFLICT if the vault changed since. The merged vault can be merged again.
 */
export async function undoMerge(
  home: StoreHome,
  target: string,
  provenance: Provenance = {},
): Promise<FileChange[]> {
  const { before, after } = getStateNames(target)
  const names = await home.listVaultNames()
  if (!names.includes(before) || !names.includes(after)) {
    const detail = `there is no merge into '${target}' to undo`
    throw new VfsError('ENOENT', target, { op: 'undo', detail })
  }
  const changes = await diffStates(home, await home.openVault(after), await home.openVault(before))
  await restoreVault(home, { target, before, after, label: 'before the last merge', provenance })
  await deleteStates(home, target)
  return changes
}

/** Reports whether there is a merge into a vault that can be undone. */
export async function hasUndoableMerge(home: StoreHome, target: string): Promise<boolean> {
  const names = await home.listVaultNames()
  return Object.values(getStateNames(target)).every((name) => names.includes(name))
}

function diffStates(home: StoreHome, from: VaultLog, to: VaultLog): Promise<FileChange[]> {
  const roots = [from.head.root, to.head.root] as const
  return home.session.withHolds(async (hold) => {
    for (const root of roots) hold(root)
    return home.reader.run(() => home.trees.diff(...roots))
  })
}

function getStateNames(target: string): { readonly before: string; readonly after: string } {
  const name = `merge-${createHash('sha256').update(target).digest('hex').slice(0, 12)}`
  return { before: `${name}-before`, after: `${name}-after` }
}

async function deleteStates(home: StoreHome, target: string): Promise<void> {
  for (const name of Object.values(getStateNames(target))) {
    try {
      await home.deleteVault(name)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}
