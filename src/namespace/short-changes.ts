import { describeGitSummary, separateGitChanges } from '../git-files/index.ts'
import type { CommandReport } from '../tools/index.ts'
import { collapseChanges, type FileSystem, type PathChange } from '../vfs/index.ts'

/** Changes of a command as a model reads them: few lines, whatever a package manager or git wrote. */
export type ShortChanges = Pick<CommandReport, 'changes' | 'directories' | 'git'>

/** Puts a directory in place of many new or deleted files, and a summary in place of what git keeps by itself. */
export async function shortenChanges(
  changes: readonly PathChange[],
  trees: { readonly before: FileSystem; readonly after: FileSystem } | undefined,
): Promise<ShortChanges> {
  if (trees === undefined) return { changes }
  const { changes: others, git } = await separateGitChanges(changes, trees)
  const collapsed = await collapseChanges(others, trees)
  return { ...collapsed, git: git && describeGitSummary(git) }
}
