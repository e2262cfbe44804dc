import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Returns the repository around a directory, which commands need whole: Git works in no part of one. The directory itself
 * where there is none, where it is ignored there, or where the repository has more than one project, such as the user's
 * home directory.
 */
export function findProject(directory: string): string {
  const repository = listAbove(directory).find(isRepository)
  if (repository === undefined || repository === directory || isTooWide(repository)) return directory
  return isIgnored(repository, directory) ? directory : repository
}

/** A `.git` of a worktree or a submodule is a file; an empty directory of that name is no repository. */
function isRepository(directory: string): boolean {
  const git = join(directory, '.git')
  return existsSync(join(git, 'HEAD')) || statSync(git, { throwIfNoEntry: false })?.isFile() === true
}

/** Reports whether a repository ignores a directory; false if Git is not there to answer. */
function isIgnored(repository: string, directory: string): boolean {
  // No setting of the repository may start a program.
  const settings = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
  const args = ['-C', repository, ...settings, 'check-ignore', '--quiet', '--', directory]
  return spawnSync('git', args, { stdio: 'ignore' }).status === 0
}

/** Lists a directory and those around it, the nearest first. */
export function listAbove(directory: string): string[] {
  const above = dirname(directory)
  return above === directory ? [directory] : [directory, ...listAbove(above)]
}

/** Reports whether a directory is the user's home directory, or around it: it has more than one project. */
export function isTooWide(directory: string): boolean {
  const user = homedir()
  if (directory === '/') return true
  return user !== '' && existsSync(user) && `${realpathSync(user)}/`.startsWith(`${directory}/`)
}
