import { parseGitPath } from '../../git-files/index.ts'
import { sortChanges, type TreeChange } from './compare-trees.ts'
import type { ForkPlan } from './fork-plan.ts'
import { isSameEntry } from './link-entry.ts'

/** Combines changes that follow each other into one per path: from the first state to the last. */
export function combineChanges(lists: readonly (readonly TreeChange[])[]): TreeChange[] {
  if (lists.length === 1) return [...(lists[0] ?? [])]
  const combined = joinByPath(lists).filter(({ before, after }) => !isSameEntry(before, after))
  return sortChanges(combined)
}

/** Combines the plans of several forks to one write of the directory. */
export function combinePlans(plans: readonly ForkPlan[]): {
  readonly changes: readonly (readonly TreeChange[])[]
  readonly written: readonly TreeChange[]
  readonly settled: readonly TreeChange[]
  readonly names: ReadonlyMap<string, string>
  readonly reported: TreeChange[]
} {
  const settled = new Set(plans.flatMap((plan) => plan.settled.map(({ path }) => path)))
  const written = combineChanges(plans.map((plan) => plan.written))
  const reported = combineChanges(plans.map((plan) => plan.reported))
  return {
    changes: plans.map(({ changes }) => changes),
    written,
    settled: joinByPath(plans.map(({ states }) => states)).filter(({ path }) => settled.has(path)),
    names: new Map(plans.flatMap(({ names }) => [...names])),
    reported: markKept(reported, written),
  }
}

/** Marks paths at which nothing is written. A ref of git may be written into another file. */
function markKept(reported: readonly TreeChange[], written: readonly TreeChange[]): TreeChange[] {
  const paths = new Set(written.map(({ path }) => path))
  return reported.map((change) =>
    paths.has(change.path) || parseGitPath(change.path) !== undefined ? change : { ...change, isKept: true },
  )
}

function joinByPath(lists: readonly (readonly TreeChange[])[]): TreeChange[] {
  const joined = new Map<string, TreeChange>()
  for (const change of lists.flat()) {
    const earlier = joined.get(change.path)
    joined.set(
      change.path,
      earlier === undefined ? change : { ...earlier, ...change, before: earlier.before },
    )
  }
  return [...joined.values()]
}
