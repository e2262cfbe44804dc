import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { VfsError } from '../../vfs/index.ts'

/** Paths of a repository's parts. The two differ for a worktree. */
export interface RepositoryPaths {
  /** Directory of its HEAD. */
  readonly own: string
  /** Directory of objects and branches. */
  readonly shared: string
}

/** Finds a repository on this machine: a working tree, a bare one, a worktree. ENOENT. */
export async function findRepositoryPaths(repository: string): Promise<RepositoryPaths> {
  const root = resolve(repository)
  for (const candidate of [join(root, '.git'), root]) {
    const own = await findGitDirectory(candidate)
    if (own === undefined || !(await pathExists(join(own, 'HEAD')))) continue
    const common = await readTextIfPresent(join(own, 'commondir'))
    return { own, shared: common === undefined ? own : resolve(own, common) }
  }
  throw new VfsError('ENOENT', root, { op: 'open', detail: 'not a git repository' })
}

/** Returns the path if it is a directory, or the Git directory that a `.git` file there names. */
async function findGitDirectory(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.isDirectory()) return found && path
  const target = /^gitdir: (.*)$/.exec((await readTextIfPresent(path)) ?? '')?.[1]
  return target === undefined ? undefined : resolve(path, '..', target)
}

async function pathExists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function readTextIfPresent(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return text?.trim()
}
