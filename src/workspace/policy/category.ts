/** Effects that a command may have, from the weakest to the strongest. */
export const categories = [
  'read_only',
  'mutating',
  'interactive',
  'destructive',
  'networked',
  'host_escape_risk',
] as const

export type Category = (typeof categories)[number]

/** One effect that a part of a command may have, and the evidence. */
export interface Finding {
  readonly category: Category
  /** Effect as a clause after the command: `reaches the network`. */
  readonly reason: string
  /** Path of this machine that it concerns. */
  readonly path?: string
  /** True if it reaches servers on the loopback only. */
  readonly isLoopback?: boolean
}

/** True if a finding only says that something reads. */
export function isReadOnly({ category }: Finding): boolean {
  return category === 'read_only'
}

/** Returns the rank of a category: the strongest of any part is that of the whole. */
export function getStrength(category: Category): number {
  return categories.indexOf(category)
}

/** Lists the categories of findings, weakest first; `read_only` only where there is nothing else. */
export function listCategories(findings: Iterable<Finding>): Category[] {
  const found = new Set<Category>()
  for (const { category } of findings) found.add(category)
  found.delete('read_only')
  return found.size === 0 ? ['read_only'] : categories.filter((category) => found.has(category))
}
