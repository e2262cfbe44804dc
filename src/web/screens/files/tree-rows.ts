import type { WebEntry } from '../../../web-api/index.ts'

/** A visible entry of the directories. */
export interface TreeRow {
  readonly entry: WebEntry
  readonly depth: number
  readonly isOpen: boolean
}

/** Lists the directories that lead to a path, from the root on. */
export function listAncestors(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '')
  return ['/', ...parts.slice(0, -1).map((_part, index) => `/${parts.slice(0, index + 1).join('/')}`)]
}

/** Lists the entries of opened directories below their parents: directories first, then by name. */
export function listTreeRows(
  entries: ReadonlyMap<string, readonly WebEntry[]>,
  opened: ReadonlySet<string>,
): TreeRow[] {
  const rows: TreeRow[] = []
  const add = (path: string, depth: number) => {
    for (const entry of [...(entries.get(path) ?? [])].sort(compareEntries)) {
      const isOpen = entry.type === 'directory' && opened.has(entry.path)
      rows.push({ entry, depth, isOpen })
      if (isOpen) add(entry.path, depth + 1)
    }
  }
  add('/', 0)
  return rows
}

function compareEntries(a: WebEntry, b: WebEntry): number {
  const rank = (entry: WebEntry) => (entry.type === 'directory' ? 0 : 1)
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}
