import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../vfs/index.ts'
import {
  findHiddenPaths,
  findVisibilityProblem,
  type IsolationPlan,
  type VisiblePath,
} from '../isolation/index.ts'

/** `gitdir: /path/of/repository/.git/worktrees/name` */
const GIT_FILE = /^gitdir: (.+?)\n?$/s
const MAX_GIT_FILE_BYTES = 8192
const READ_ONLY_MESSAGE = 'Read-only file system'

/**
 * Returns the repository of a linked worktree of git: the directory that all its worktrees share, outside of the worktree.
 * Undefined for any other directory. The repository must name the worktree, too: a `.git` file of a command's making
 * leads nowhere.
 */
export function findWorktreeRepository(directory: string): string | undefined {
  const file = join(directory, '.git')
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() !== true || stats.size > MAX_GIT_FILE_BYTES) return undefined
    const [, target] = GIT_FILE.exec(readFileSync(file, 'utf8')) ?? []
    if (target === undefined) return undefined
    const own = realpathSync(resolve(directory, target))
    const common = realpathSync(resolve(own, readLine(join(own, 'commondir'))))
    const named = resolve(own, readLine(join(own, 'gitdir')))
    const isNamed = realpathSync(named) === realpathSync(file)
    const isOwn = dirname(own) === join(common, 'worktrees')
    const isApart = !isWithin(common, directory) && !isWithin(directory, common)
    return isNamed && isOwn && isApart && existsSync(join(common, 'objects')) ? common : undefined
  } catch {
    // The repository was moved or removed, or may not be read.
    return undefined
  }
}

/**
 * Returns the repository of a linked worktree as a path that a command sees and cannot change. Below the home directory,
 * it could change it otherwise, and what it committed would be discarded with the other changes there. None where it is
 * hidden, or outside of the home directory, which is read-only anyway.
 */
export function listRepositoryPaths(
  directory: string,
  plan: Pick<IsolationPlan, 'level' | 'userHome' | 'hidden'>,
): VisiblePath[] {
  const { level, userHome, hidden = [] } = plan
  if (level === 'none' || userHome === undefined || !directory.startsWith('/')) return []
  const path = findWorktreeRepository(directory)
  if (path === undefined || findVisibilityProblem(path, userHome, hidden) !== undefined) return []
  const isHidden = findHiddenPaths(plan).some(
    (each) => isWithin(path, each.path) || isWithin(each.path, path),
  )
  return isHidden ? [] : [{ path, mode: 'read', isDirectory: true }]
}

/** Explains that git could not write the repository of a linked worktree; undefined if that did not happen. */
export function explainRepository(output: Buffer, directory: string): string | undefined {
  if (!output.includes(READ_ONLY_MESSAGE)) return undefined
  const repository = findWorktreeRepository(directory)
  if (repository === undefined || !output.includes(repository)) return undefined
  return `git can only read in a fork of a linked worktree: its repository, ${repository}, is outside of it; run coppice apply and commit in ${directory}`
}

function readLine(file: string): string {
  return readFileSync(file, 'utf8').trimEnd()
}
