import type { Resolution, TextSides } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { type PendingMerge, performMerge } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { describeMerge } from '../../access/pending-merge.ts'
import { CommandError, type Conflict, findConflicts } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatResolveHints, type ResolveContext } from './merge-report.ts'
import { toTreePath } from './select-paths.ts'

/** The conflicts of a pending merge, as both sides are now. */
export interface PendingConflicts {
  /** Conflicts without a resolution, or whose versions changed since they were resolved. */
  readonly open: readonly Conflict[]
  readonly resolved: ReadonlyMap<string, Resolution>
  /** The versions of text files. */
  readonly texts: ReadonlyMap<string, TextSides>
}

/** Finds the conflicts of a pending merge by a trial. */
export async function findPendingConflicts(
  { home, ctx }: OpenHome,
  merge: PendingMerge,
): Promise<PendingConflicts> {
  const texts = new Map<string, TextSides>()
  const open: Conflict[] = []
  try {
    await performMerge(home, merge, {
      ...ctx,
      isTrial: true,
      onTextConflict: (path, sides) => texts.set(path, sides),
    })
  } catch (error) {
    const conflicts = findConflicts(error)
    if (conflicts === undefined) throw error
    open.push(...conflicts)
  }
  const paths = new Set(open.map(({ path }) => path))
  const resolved = new Map([...merge.resolutions].filter(([path]) => !paths.has(path)))
  return { open, resolved, texts }
}

/** Returns the path in conflict that a word of the command line names. CommandError if it is not in conflict. */
export function matchConflict(
  merge: PendingMerge,
  { open, resolved }: PendingConflicts,
  word: string,
): string {
  const paths = [...open.map(({ path }) => path), ...resolved.keys()]
  const path = merge.directory === undefined ? parseVaultPath(word) : toTreePath(merge.directory, word)
  if (paths.includes(path)) return path
  throw new CommandError(`'${word}' is not in conflict; see coppice conflicts`)
}

/** Formats the conflicts that are open, and the commands that resolve them. */
export function formatOpenConflicts(
  merge: PendingMerge,
  conflicts: readonly Conflict[],
  context: ResolveContext,
): string {
  const lines = conflicts.map((conflict) => `  C ${formatConflict(merge, conflict)}\n`).join('')
  return `${formatCount(conflicts.length, 'conflict')} of the merge of ${describeMerge(merge)} ${conflicts.length === 1 ? 'is' : 'are'} open
${lines}${formatResolveHints(merge, conflicts, context)}`
}

/** Formats the path of an open conflict and the reason. */
export function formatConflict(merge: PendingMerge, conflict: Conflict): string {
  const { path, reason = explainStats(conflict) } = conflict
  const isStale = merge.resolutions.has(path)
  return `${escapeName(path)}  ${isStale ? 'changed since it was resolved' : reason}`
}

function explainStats({ ours, theirs }: Conflict): string {
  if (ours === null) return 'was removed here, and changed in the fork'
  if (theirs === null) return 'changed here, and was removed in the fork'
  return 'changed on both sides'
}
