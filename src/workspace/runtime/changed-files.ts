import { listGainedBits, type PathChange } from '../../vfs/index.ts'
import type { ChangedFiles } from '../policy/index.ts'

/**
 * Converts changes to lists of paths. A rename counts as a deletion and an addition. A path that is deleted and added
 * counts as modified.
 */
export function toChangedFiles(changes: Iterable<PathChange>): ChangedFiles {
  const [added, modified, deleted] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const { kind, path, from } of changes) {
    if (kind === 'added' || kind === 'renamed') added.add(path)
    if (kind === 'modified') modified.add(path)
    if (kind === 'deleted') deleted.add(path)
    if (kind === 'renamed' && from !== undefined) deleted.add(from)
  }
  const replaced = added.intersection(deleted)
  return {
    added: sortPaths(added.difference(replaced)),
    modified: sortPaths(modified.union(replaced)),
    deleted: sortPaths(deleted.difference(replaced)),
  }
}

/** Lists the files that gained setuid or setgid. */
export function listSetuidFiles(changes: Iterable<PathChange>): string[] {
  const given = [...changes].filter((change) => listGainedBits(change).length > 0)
  return sortPaths(new Set(given.map(({ path }) => path)))
}

function sortPaths(paths: ReadonlySet<string>): string[] {
  return [...paths].sort()
}
