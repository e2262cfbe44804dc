import {
  type CallContext,
  type CollapsedDirectory,
  collapseChanges,
  listGainedBits,
  type PathChange,
} from '../../vfs/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import type { CommandChanges } from './execution-workspace.ts'

/**
 * Converts changes to lists of paths. A rename counts as a deletion and an addition. A path that is deleted and added
 * counts as modified.
 *
 * @param directories stand for the changes of the files in them.
 */
export function toChangedFiles(
  changes: Iterable<PathChange>,
  directories: readonly CollapsedDirectory[] = [],
): ChangedFiles {
  const [added, modified, deleted] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const { kind, path, from } of changes) {
    if (kind === 'added' || kind === 'renamed') added.add(path)
    if (kind === 'modified') modified.add(path)
    if (kind === 'deleted') deleted.add(path)
    if (kind === 'renamed' && from !== undefined) deleted.add(from)
  }
  for (const { kind, path } of directories) (kind === 'added' ? added : deleted).add(`${path}/`)
  const counts = Object.fromEntries(directories.map(({ path, files }) => [`${path}/`, files]))
  const replaced = added.intersection(deleted)
  return {
    added: sortPaths(added.difference(replaced)),
    modified: sortPaths(modified.union(replaced)),
    deleted: sortPaths(deleted.difference(replaced)),
    ...(directories.length > 0 && { collapsed: counts }),
  }
}

/** Converts the changes of a command to lists of paths, with large new and deleted directories for their files. */
export async function collapseChangedFiles(
  { changes, trees }: CommandChanges,
  ctx: CallContext,
): Promise<ChangedFiles> {
  if (trees === undefined) return toChangedFiles(changes)
  const collapsed = await collapseChanges(changes, trees, ctx)
  return toChangedFiles(collapsed.changes, collapsed.directories)
}

/** Counts the paths of the three lists. */
export function countChangedFiles({ added, modified, deleted }: ChangedFiles): number {
  return added.length + modified.length + deleted.length
}

/** Lists the files that gained setuid or setgid. */
export function listSetuidFiles(changes: Iterable<PathChange>): string[] {
  const given = [...changes].filter((change) => listGainedBits(change).length > 0)
  return sortPaths(new Set(given.map(({ path }) => path)))
}

function sortPaths(paths: ReadonlySet<string>): string[] {
  return [...paths].sort()
}
