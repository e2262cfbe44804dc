import { parseTreeRef, type TreeName, type WebTree } from '../web-api/index.ts'
import { formatRoute } from './router.ts'

/** Returns the address of a process, and of one of its steps. */
export function formatProcessRoute(pid: number, step?: number): string {
  return formatRoute('process', { pid, step })
}

/** Returns the address of the changes of a fork since it was made, with the tree that they can be merged into. */
export function formatCompareRoute(fork: Pick<WebTree, 'tree' | 'parent'>): string {
  return formatRoute('compare', { from: `${fork.tree}^`, to: fork.tree, into: fork.parent ?? undefined })
}

/** Returns the address of a comparison of any two trees. */
export function formatPairRoute(from: TreeName, to: TreeName, path?: string): string {
  return formatRoute('compare', { from, to, path })
}

/** Returns the address of the files of a tree, of a file in it, and of a moment. */
export function formatFilesRoute(tree: TreeName, path?: string, query: Record<string, string> = {}): string {
  return formatRoute('files', { tree, path, ...query })
}

/** Returns true for a tree that began as a copy of another: its changes can be shown and merged. */
export function isFork({ parent }: Pick<WebTree, 'parent'>): boolean {
  return parent !== null
}

/** Formats a tree for people: `base`, `shop-1 at before`, `/home/me/shop`. */
export function formatTree(tree: TreeName): string {
  const ref = parseTreeRef(tree)
  if (ref === undefined) return tree
  if (ref.kind === 'directory') return ref.path
  if (ref.at === undefined) return ref.name
  if (ref.at === 'base') return `${ref.name} as it began`
  return 'seq' in ref.at ? `${ref.name} at change ${ref.at.seq}` : `${ref.name} at ${ref.at.checkpoint}`
}
