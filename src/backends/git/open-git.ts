import { assertOptions, VfsError } from '../../vfs/index.ts'
import { type Commit, parseCommit } from './commit-object.ts'
import { GitFs } from './git-fs.ts'
import { openIsomorphic } from './isomorphic-reader.ts'
import { hasGit, openNative } from './native/open-repository.ts'
import { openRemoteCache, type RemoteOptions } from './native/remote-cache.ts'
import type { ObjectReader } from './object-reader.ts'

/** Reader of a repository: the Git of this machine, or the package isomorphic-git. */
export type GitReader = 'git' | 'isomorphic-git'

/** Options of a repository that is opened. */
export interface RepositoryOptions {
  /** Git where it is installed, otherwise isomorphic-git, when absent. */
  readonly reader?: GitReader
  /** Variables for Git: `PATH` to find it. Searches the usual directories when absent. */
  readonly environment?: Readonly<Record<string, string>>
  /** Read a repository that belongs to another user of this machine. */
  readonly trustOwner?: boolean
  readonly signal?: AbortSignal
}

/** Options of `openGit`. */
export interface GitOptions extends RepositoryOptions {
  /** A branch, a tag or an id. `HEAD` when absent. */
  readonly ref?: string
}

/**
 * Opens a repository of this machine at a commit: a working tree, a bare repository, a worktree. Uncommitted files
 * are not included. ENOENT, EACCES if it belongs to another user, ENOTSUP with what to install.
 */
export async function openGit(repository: string, options: GitOptions = {}): Promise<GitFs> {
  assertOptions(options, 'open', (ref) => `openGit('${repository}', { ref: '${ref}' })`)
  return openCommit(await openRepository(repository, options), options.ref)
}

/**
 * Opens a remote repository at a commit. Fetches the commit and its directories now, into a bare repository in
 * `cache`, and content on demand or with `materialize`. Needs Git. EINVAL for an invalid address or ref, ENOENT if the
 * remote has no such ref, EUNAVAILABLE or ETIMEDOUT if it cannot be fetched.
 */
export async function openRemoteGit(url: string, options: RemoteOptions): Promise<GitFs> {
  const { reader, commit } = await openRemoteCache(url, options)
  return openCommit(reader, commit)
}

/** Opens the objects of a repository of this machine. */
export async function openRepository(
  repository: string,
  { reader, ...options }: RepositoryOptions = {},
): Promise<ObjectReader> {
  const isNative = reader === undefined ? await hasGit(options.environment) : reader === 'git'
  return isNative ? openNative({ repository, ...options }) : openIsomorphic(repository)
}

/** Reads a commit. EUNAVAILABLE if the repository lacks it, EIO if the object is not a commit. */
export async function readCommit(reader: ObjectReader, id: string): Promise<Commit> {
  const [object] = await reader.objects([id])
  const commit = object?.type === 'commit' ? parseCommit(id, object.bytes) : undefined
  if (commit !== undefined) return commit
  throw new VfsError('EIO', '/', { op: 'open', detail: `the repository is damaged: ${id} is not a commit` })
}

async function openCommit(reader: ObjectReader, ref = 'HEAD'): Promise<GitFs> {
  try {
    return new GitFs(reader, await readCommit(reader, await reader.resolve(ref)))
  } catch (error) {
    await reader[Symbol.asyncDispose]()
    throw error
  }
}
