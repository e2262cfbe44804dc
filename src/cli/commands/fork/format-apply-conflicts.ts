import { parseGitPath } from '../../../git-files/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { ApplyError, PendingMerge, TreeChange } from '../../../workspace/index.ts'
import { quoteShellWord } from '../../render/shell-word.ts'
import { formatGitHints, formatResolveHints, hasChoice, type ResolveContext } from './merge-report.ts'

/** Paths that a command in a hint names at most. */
const MAX_NAMED = 20

/** An apply that was refused. */
export interface RefusedApply {
  readonly forks: readonly string[]
  readonly merge: 'strict' | 'markers' | undefined
  /** Paths of the command line. */
  readonly words: readonly string[]
  /** All changes of the forks. */
  readonly changed: readonly TreeChange[]
  /** The apply, if it waits for the resolution of its conflicts. */
  readonly waiting?: PendingMerge | undefined
  readonly context: ResolveContext
}

/** Formats the conflicts of an apply, and commands that go on from there. */
export function formatApplyConflicts(error: ApplyError, refused: RefusedApply): string {
  const { forks, merge, words, changed, waiting, context } = refused
  const command = `coppice apply ${forks.join(' ')}`
  // Git merges commits, not lines of its own files.
  const roots = new Set(error.conflicts.flatMap(({ path }) => parseGitPath(path)?.root ?? []))
  const paths = formatPaths([...words, ...[...roots].map((root) => `:!${root}`)])
  const canKeepBoth = error.conflicts.every(
    ({ path, isChoice }) => isChoice || parseGitPath(path) !== undefined,
  )
  const isStuck = !error.conflicts.every(hasChoice)
  const isOfGitAlone = error.conflicts.every(({ path }) => parseGitPath(path) !== undefined)
  const hints = [
    ...(waiting === undefined || isStuck
      ? []
      : [formatResolveHints(waiting, error.conflicts, context).trimEnd()]),
    `Look at the changes with: coppice diff ${forks[0]}`,
    ...formatGitHints(forks, error.conflicts),
    ...(merge === 'strict' && isStuck && roots.size > 0 && !isOfGitAlone
      ? [`Merge the other files with: ${command} --merge${paths}`]
      : []),
    ...(merge === undefined ? [`Merge them with: ${command} --merge${paths}`] : []),
    ...(merge === 'strict' && canKeepBoth
      ? [`Write both versions between markers with: ${command} --markers${paths}`]
      : []),
    ...formatExclusion(
      error,
      command + (merge === undefined ? '' : merge === 'strict' ? ' --merge' : ' --markers'),
      words,
      changed,
    ),
  ]
  return `coppice: nothing was written: ${explain(error, refused)}\n${formatLines(error)}${hints.join('\n')}\n`
}

function explain({ conflicts }: ApplyError, { forks, merge }: RefusedApply): string {
  const names = forks.join(' and ')
  if (conflicts.every(({ rival }) => rival !== undefined)) return `${names} have different changes`
  if (merge !== undefined) return `this directory and ${names} have different changes`
  return `this directory changed since ${names} ${forks.length === 1 ? 'was' : 'were'} made`
}

export function formatUndoConflicts(error: ApplyError, forks: readonly string[]): string {
  return `coppice: nothing was written: this directory changed since ${forks.join(' and ')} ${forks.length === 1 ? 'was' : 'were'} applied
${formatLines(error)}Remove your edits from these files, then run again: coppice apply ${forks[0]} --undo
`
}

function formatLines({ conflicts }: ApplyError): string {
  return conflicts.map(({ path, reason }) => `  C ${escapeName(path)} ${reason}\n`).join('')
}

/** Formats the command that writes the other changes; nothing if there are none, or too many conflicts to name. */
function formatExclusion(
  { conflicts }: ApplyError,
  command: string,
  words: readonly string[],
  changed: readonly TreeChange[],
): string[] {
  const excluded = new Set(conflicts.map(({ path }) => findChangedAbove(path, changed)))
  const others = changed.filter(
    ({ path }) => ![...excluded].some((each) => path === each || path.startsWith(`${each}/`)),
  )
  if (others.length === 0 || excluded.size > MAX_NAMED) return []
  const paths = [...words, ...[...excluded].map((path) => `:!${path}`)]
  return [`Leave these files out with: ${command}${formatPaths(paths)}`]
}

function formatPaths(words: readonly string[]): string {
  return words.length === 0 ? '' : ` -- ${words.map(quoteShellWord).join(' ')}`
}

/**
 * Returns the changed path that a conflict belongs to: its repository, the directory above it that is a file now,
 * itself, or the nearest changed directory above.
 */
function findChangedAbove(path: string, changed: readonly TreeChange[]): string {
  // The parts of a repository belong together.
  const git = parseGitPath(path)
  if (git !== undefined) return git.root
  const above = changed.filter((change) => path === change.path || path.startsWith(`${change.path}/`))
  const replaced = above.find(({ after }) => after !== undefined && after.type !== 'directory')
  return (replaced ?? above.at(-1))?.path ?? path
}
