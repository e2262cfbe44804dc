import {
  describeGitSummary,
  type GitSummary,
  isChangeOfGit,
  type RefChange,
  summarizeGit,
} from '../../git-files/index.ts'
import { escapeName } from '../../text/index.ts'

/** Formats what git changed by itself as a line: `git: 2 commits on feat`. No line if it changed nothing. */
export function formatGitLines(summary: GitSummary | undefined): string[] {
  return summary === undefined ? [] : [`git: ${escapeName(describeGitSummary(summary))}`]
}

/** Formats a line for each change, and one for all that git keeps by itself. */
export function formatChangeList<Change extends RefChange>(
  changes: readonly Change[],
  format: (change: Change) => string,
): string[] {
  const own = changes.filter(isChangeOfGit)
  const others = changes.filter((change) => !isChangeOfGit(change))
  return [...others.map(format), ...formatGitLines(summarizeGit(own))]
}

/** Counts changes as they are listed. */
export function countListed(changes: readonly RefChange[]): number {
  return formatChangeList(changes, ({ path }) => path).length
}
