import { parseGitPath, type RefChange } from '../../../git-files/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { PathChange } from '../../../vfs/index.ts'
import type { PendingMerge, PerformedMerge, TreeChange } from '../../../workspace/index.ts'
import { describeMerge, getFinishingCommand, nameOurs } from '../../access/pending-merge.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import type { Conflict } from '../../framework/errors.ts'
import { formatChangeWithMode, toChangeJson } from '../../render/format-change.ts'
import { formatChangeList } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'
import { quoteShellWord } from '../../render/shell-word.ts'

/** Prints the changes that a merge of vaults or forks made, or would make in a trial. */
export async function printMerged(
  call: CommandInvocation,
  { sources: [fork = ''], target: into }: PendingMerge,
  performed: PerformedMerge,
  isTrial: boolean,
): Promise<void> {
  const changes = performed.kind === 'vault' ? performed.changes : performed.changes.map(toPathChange)
  if (call.isJson) {
    await call.output.writeValue({ fork, into, dry_run: isTrial, changes: changes.map(toChangeJson) })
    return
  }
  const lines = formatChangeList(changes, (change) => formatChangeWithMode(call.terminal, change))
  for (const line of lines) await call.output.writeLine(line)
  const did = isTrial ? 'would merge' : 'merged'
  await call.output.writeLine(`${did} ${formatCount(lines.length, 'change')} of ${fork} into ${into}`)
}

export async function printUndoneMerge(
  call: CommandInvocation,
  into: string,
  changes: readonly PathChange[],
  waiting: PendingMerge | undefined,
): Promise<void> {
  if (call.isJson) {
    await call.output.writeValue({ into, undone: true, changes: changes.map(toChangeJson) })
    return
  }
  const lines = formatChangeList(changes, (change) => formatChangeWithMode(call.terminal, change))
  for (const line of lines) await call.output.writeLine(line)
  const again = waiting === undefined ? 'it can be merged again' : formatRedo(waiting)
  await call.output.writeLine(
    `undid the last merge into ${into}: ${formatCount(lines.length, 'change')}; ${again}`,
  )
}

/** Formats the command that performs a merge again after it was undone. */
export function formatRedo(waiting: PendingMerge): string {
  return `redo it with your choices: ${getFinishingCommand(waiting, 'continue')}`
}

export function toPathChange({ path, before, after }: TreeChange): PathChange {
  return { kind: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified', path }
}

/** Adds the kind of a change to it. */
export function withKind(change: TreeChange): TreeChange & RefChange {
  return { ...change, kind: toPathChange(change).kind }
}

/**
 * Formats the conflicts of a merge, and commands that go on from there.
 * @param context is undefined for a trial, after which no merge waits.
 */
export function formatMergeConflicts(
  merge: PendingMerge,
  conflicts: readonly Conflict[],
  context: ResolveContext | undefined,
): string {
  const { sources, target } = merge
  const command = `coppice merge ${sources[0]} ${target}`
  const all = `with --ours, --theirs or --markers for all of them: ${command} --theirs`
  const choice =
    context === undefined
      ? [`Merge to resolve them one at a time: ${command}`, `Or merge ${all}`]
      : [`Or merge again ${all}`]
  const hints = [
    ...(context === undefined ? formatGitHints(sources, conflicts) : []),
    ...(conflicts.every(hasChoice) ? choice : []),
  ]
  const resolveHints = context === undefined ? '' : formatResolveHints(merge, conflicts, context)
  return `coppice: ${sources[0]} and ${target} both changed ${formatCount(conflicts.length, 'path')}; nothing was merged
${conflicts.map(({ path, reason }) => `  C ${escapeName(path)}${reason === undefined ? '' : ` ${reason}`}\n`).join('')}${resolveHints}${hints.map((line) => `${line}\n`).join('')}`
}

/** Formats the commands that let git merge the commits of forks, if these are in conflict. */
export function formatGitHints(
  forks: readonly string[],
  conflicts: readonly Pick<Conflict, 'path'>[],
): string[] {
  if (!conflicts.some(({ path }) => parseGitPath(path) !== undefined)) return []
  return forks.map(
    (fork) => `Let git merge its commits: coppice git export . --vault ${fork} && git merge ${fork}`,
  )
}

/** True for a conflict of which one can choose a side. */
export function hasChoice({ reason, isChoice }: Pick<Conflict, 'reason' | 'isChoice'>): boolean {
  return reason === undefined || isChoice === true
}

/** State on which the commands that resolve conflicts depend. */
export interface ResolveContext {
  /** Paths of conflicts in texts, which have lines to merge. */
  readonly texts: { has(path: string): boolean }
  /** True if other merges wait, too. */
  readonly isNamed: boolean
}

/**
 * Formats the commands that resolve a conflict with sides to choose, and finish the merge. It is the first one of a text,
 * for which there are more ways. If another conflict has no sides, the merge cannot be finished, and the commands are
 * those that give it up.
 */
export function formatResolveHints(
  merge: PendingMerge,
  conflicts: readonly Pick<Conflict, 'path' | 'reason' | 'isChoice'>[],
  { texts, isNamed }: ResolveContext,
): string {
  const shownConflict = conflicts.find(({ path }) => texts.has(path)) ?? conflicts[0]
  if (shownConflict === undefined) return ''
  const [finish, abort] = [getFinishingCommand(merge, 'continue'), getFinishingCommand(merge, 'abort')]
  const stuck = conflicts.find((conflict) => !hasChoice(conflict))
  if (stuck !== undefined) {
    const hints = [
      `${escapeName(stuck.path)} has no sides to choose; give the merge up with: ${abort}`,
      ...formatGitHints(merge.sources, conflicts),
    ]
    return hints.map((line) => `${line}\n`).join('')
  }
  const { path } = shownConflict
  const into = isNamed ? ` --into ${quoteShellWord(merge.target)}` : ''
  const command = `coppice resolve ${quoteShellWord(path)}${into}`
  const [first, ...others] = merge.sources
  const lines = [
    [
      `${command} --ours`,
      others.length === 0
        ? `keeps what ${nameOurs(merge)} has`
        : `keeps what ${nameOurs(merge)} has, or ${first}`,
    ],
    [`${command} --theirs`, `takes what ${others.at(-1) ?? first} has`],
    ...(texts.has(path)
      ? [
          [`${command} --union`, 'keeps the lines of both'],
          [`${command} --edit`, 'opens your editor'],
        ]
      : []),
  ]
  const width = Math.max(...lines.map(([typed = '']) => typed.length))
  const shown = lines.map(([typed = '', meaning = '']) => `  ${typed.padEnd(width)}  ${meaning}\n`).join('')
  return `Resolve one at a time:\n${shown}then finish with: ${finish}, or give up with: ${abort}\n`
}

/** Formats the state of a pending merge in one line. */
export function formatProgress(merge: PendingMerge, open: number, resolved: number): string {
  const what = `merge of ${describeMerge(merge)}`
  if (open === 0)
    return `${what}: all conflicts are resolved; finish with: ${getFinishingCommand(merge, 'continue')}`
  return `${what}: ${resolved} of ${formatCount(open + resolved, 'conflict')} resolved`
}
