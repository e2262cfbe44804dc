/** What a command may do, from the weakest to the strongest. */
export const categories = [
  'read_only',
  'mutating',
  'interactive',
  'destructive',
  'networked',
  'host_escape_risk',
] as const

export type Category = (typeof categories)[number]

/** One thing a part of a command may do, and how that is known. */
export interface Finding {
  readonly category: Category
  /** What it does, as a sentence goes on after the command: `reaches the network`. */
  readonly reason: string
  /** The path of this machine it is about. */
  readonly path?: string
}

/** Whether a finding is no more than that something reads. */
export function isReadOnly({ category }: Finding): boolean {
  return category === 'read_only'
}

/** How strong a category is: the strongest of any part is that of the whole. */
export function getStrength(category: Category): number {
  return categories.indexOf(category)
}

/** All categories of some findings, weakest first; `read_only` only where there is nothing else. */
export function listCategories(findings: Iterable<Finding>): Category[] {
  const found = new Set<Category>()
  for (const { category } of findings) found.add(category)
  found.delete('read_only')
  return found.size === 0 ? ['read_only'] : categories.filter((category) => found.has(category))
}
