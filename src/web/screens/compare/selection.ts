import type { FileSelection, MergeSelection, WebChange } from '../../../web-api/index.ts'

/** The decision to leave out a whole file, or some hunks of one version of it. */
export type FileDecision =
  | { readonly kind: 'leave' }
  | {
      readonly kind: 'hunks'
      readonly digest: string
      readonly total: number
      /** Indexes of the hunks that are not merged. */
      readonly leftOut: ReadonlySet<number>
    }

/** Decisions by path. A file without one is kept. */
export type Decisions = ReadonlyMap<string, FileDecision>

/** Returns whether a file is kept: wholly, in part, or not. */
export function describeDecision(decision: FileDecision | undefined): 'all' | 'some' | 'none' {
  if (decision === undefined) return 'all'
  if (decision.kind === 'leave') return 'none'
  return decision.leftOut.size === decision.total ? 'none' : 'some'
}

/** Keeps a file that is left out or kept in part; leaves a file out that is kept. */
export function toggleFile(decisions: Decisions, path: string): Decisions {
  const next = new Map(decisions)
  if (describeDecision(decisions.get(path)) === 'all') next.set(path, { kind: 'leave' })
  else next.delete(path)
  return next
}

/** Keeps or leaves out every file. */
export function decideAll(changes: readonly WebChange[], isKept: boolean): Decisions {
  return isKept ? new Map() : new Map(changes.map(({ path }) => [path, { kind: 'leave' }]))
}

/** Keeps or leaves out one hunk of a version of a file. Decisions about another version are forgotten. */
export function toggleHunk(
  decisions: Decisions,
  path: string,
  hunk: number,
  version: { readonly digest: string; readonly total: number },
): Decisions {
  const leftOut = new Set(listLeftOut(decisions, path, version))
  if (!leftOut.delete(hunk)) leftOut.add(hunk)
  const next = new Map(decisions)
  if (leftOut.size === 0) next.delete(path)
  else next.set(path, { kind: 'hunks', ...version, leftOut })
  return next
}

/** Returns the hunks of a version of a file that are left out. */
export function listLeftOut(
  decisions: Decisions,
  path: string,
  version: { readonly digest: string; readonly total: number },
): ReadonlySet<number> {
  const decision = decisions.get(path)
  if (decision === undefined) return new Set()
  if (decision.kind === 'leave') return new Set(Array.from({ length: version.total }, (_, index) => index))
  return decision.digest === version.digest ? decision.leftOut : new Set()
}

/** Returns what a merge takes. A path that is missing here stays in the fork. */
export function toMergeSelection(changes: readonly WebChange[], decisions: Decisions): MergeSelection {
  if (decisions.size === 0) return 'all'
  return changes.flatMap(({ path }) => selectFile(path, decisions.get(path)) ?? [])
}

function selectFile(path: string, decision: FileDecision | undefined): FileSelection | undefined {
  if (describeDecision(decision) === 'none') return undefined
  if (decision?.kind !== 'hunks') return { path }
  const kept = Array.from({ length: decision.total }, (_, index) => index).filter(
    (index) => !decision.leftOut.has(index),
  )
  return { path, hunks: kept, digest: decision.digest }
}
