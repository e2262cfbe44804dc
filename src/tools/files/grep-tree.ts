import { grep, type Match } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { isInGitDirectory } from './git-directory.ts'
import type { GrepOutput } from './grep-output.ts'
import type { GrepQuery } from './grep-query.ts'

/** Searches all files below a directory except those of git, with the file system's index if it has one. */
export async function grepTree(
  query: GrepQuery,
  targetContext: TargetContext,
  output: GrepOutput,
): Promise<void> {
  const {
    target,
    call: { ctx, progress },
  } = targetContext
  let previous: Match | undefined
  for await (const match of grep(target.fs, target.path, query, ctx)) {
    if (isInGitDirectory(match.path, target.path)) continue
    if (previous !== undefined) showAfter(previous, match, output)
    output.startFile(target.show(match.path))
    for (const [index, line] of match.before.entries()) {
      output.addContext(match.line - match.before.length + index, line)
    }
    output.addMatch(match.line, match.text)
    if (output.isFull) return
    progress(output.matches)
    previous = match
  }
  if (previous !== undefined) showAfter(previous, undefined, output)
}

/** Shows the lines after a match, up to the next one of the same file. */
function showAfter(match: Match, next: Match | undefined, output: GrepOutput): void {
  const end = next?.path === match.path ? next.line : Number.POSITIVE_INFINITY
  for (const [index, line] of match.after.entries()) {
    const number = match.line + 1 + index
    if (number < end) output.addContext(number, line)
  }
}
