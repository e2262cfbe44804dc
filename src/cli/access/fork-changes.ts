import { countChangedLines, listFileChanges, readChangedText } from '../../diff/index.ts'
import { isOverlapPath, separateGitChanges } from '../../git-files/index.ts'
import type { LinkedDirectory, LinkedFork } from '../../workspace/index.ts'

/** Files of a fork whose lines are counted at most: counting reads them. */
const MAX_COUNTED_FILES = 500

/** Changes of a fork of a directory, beside those of other forks of it. */
export interface ForkChanges {
  readonly fork: LinkedFork
  /** Changed files, without those that git keeps by itself. */
  readonly files: number
  /** Commits on its branches. */
  readonly commits: number
  /** Changed lines; null if there are too many files to count them. */
  readonly lines: { readonly added: number; readonly removed: number } | null
  /** Paths that others of these forks change too. */
  readonly shared: readonly { readonly path: string; readonly forks: readonly string[] }[]
}

/** Counts the changes of forks of one directory, without those that git makes for itself, and finds the paths that several of them change. */
export async function listForkChanges(
  link: LinkedDirectory,
  forks: readonly LinkedFork[],
): Promise<ForkChanges[]> {
  const paths = new Map<string, string[]>()
  for (const fork of forks)
    for (const { path, before, after } of await link.listChanges(fork))
      if ((after ?? before)?.type !== 'directory' && isOverlapPath(path))
        paths.set(path, [...(paths.get(path) ?? []), fork.name])
  return Promise.all(
    forks.map(async (fork) => ({
      fork,
      ...(await countChanges(link, fork)),
      shared: [...paths].flatMap(([path, names]) =>
        names.length > 1 && names.includes(fork.name)
          ? { path, forks: names.filter((name) => name !== fork.name) }
          : [],
      ),
    })),
  )
}

async function countChanges(
  link: LinkedDirectory,
  fork: LinkedFork,
): Promise<Pick<ForkChanges, 'files' | 'commits' | 'lines'>> {
  const trees = await link.openTrees(fork)
  const { changes: others, git } = await separateGitChanges(link.diff(fork), trees)
  const changes = await Array.fromAsync(listFileChanges(others, trees, {}))
  const commits = git?.refs.reduce((total, ref) => total + ref.commits, 0) ?? 0
  if (changes.length > MAX_COUNTED_FILES) return { files: changes.length, commits, lines: null }
  const counts = await Promise.all(
    changes.map(async (change) => countChangedLines(await readChangedText(change, trees, {}))),
  )
  const sum = (side: 'added' | 'removed') => counts.reduce((total, count) => total + count[side], 0)
  return { files: changes.length, commits, lines: { added: sum('added'), removed: sum('removed') } }
}
