import type { WebTree } from '../../../web-api/index.ts'

/** A tree and its depth below its root. */
export interface ForestRow {
  readonly tree: WebTree
  readonly depth: number
}

/**
 * Lists trees so that each stands below its parent. A tree whose parent is not listed is a root. Cycles are left out.
 */
export function listForest(trees: readonly WebTree[]): ForestRow[] {
  const names = new Set(trees.map(({ tree }) => tree))
  const children = Map.groupBy(trees, ({ parent }) => (parent !== null && names.has(parent) ? parent : ''))
  const rows: ForestRow[] = []
  const seen = new Set<string>()
  const add = (tree: WebTree, depth: number) => {
    // Parents come from records of a home that may be damaged: a cycle must not hang the page.
    if (seen.has(tree.tree)) return
    seen.add(tree.tree)
    rows.push({ tree, depth })
    for (const child of children.get(tree.tree) ?? []) add(child, depth + 1)
  }
  for (const root of children.get('') ?? []) add(root, 0)
  return rows
}
