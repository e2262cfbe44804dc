import { text } from 'node:stream/consumers'
import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import type { ExportedChange } from '../../vault/index.ts'
import { type GitContext, startGit, waitForExit } from '../native/git-command.ts'
import { GitQuery } from '../native/git-query.ts'
import { FastImport } from './fast-import.ts'
import { type CopiedCommits, fetchCommits } from './fetch-commits.ts'
import { type BaseFile, findBase } from './find-base.ts'
import { PathOwner } from './path-owner.ts'

/** Exit code of `git check-ignore` for names of which none is ignored. */
const NONE_IGNORED = 1

/** Options of `commitChanges`. */
export interface CommitChangesOptions {
  readonly branch: string
  readonly message: string
  /** Author, as `Ada <ada@example.org>`. That of the repository when absent. */
  readonly author?: string
  /** Changed files as they were before: from these the commit is found that the changes began from. */
  readonly bases?: readonly BaseFile[]
  /** Commits that were made with the changes. The branch gets them, then what they lack. */
  readonly commits?: CopiedCommits | undefined
  /** Directories below that have, or get, a repository of their own. */
  readonly repositories?: ReadonlySet<string>
  /** Variables for Git: `PATH` to find it. */
  readonly environment?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Result of `commitChanges`. */
export interface CommitChangesReport {
  readonly commit: string
  readonly branch: string
  /** Number of paths that Git ignores, which are not part of the commit. */
  readonly ignored: number
  /** Directories with a repository of their own, whose files are not part of the commit. */
  readonly nested: readonly string[]
}

/**
 * Writes changes of a directory as a commit to a branch of its repository. A new branch begins at the commit that the
 * changes began from, so that a merge brings these changes and nothing else. Neither the index nor a file of the
 * directory is touched. ECONFLICT if the branch is checked out, ENOENT without a repository, EINVAL for an invalid branch
 * name, EIO if Git fails.
 */
export async function commitChanges(
  directory: string,
  changes: readonly ExportedChange[],
  options: CommitChangesOptions,
): Promise<CommitChangesReport> {
  const { branch, environment, signal } = options
  const context: GitContext = environment === undefined ? {} : { environment }
  const git = new GitQuery(directory, context)
  const { gitDirectory, ref } = await openBranch(git, branch)
  const owner = new PathOwner(directory, options.repositories)
  const nested = new Set(changes.flatMap(({ path }) => owner.findRepository(path) ?? []))
  const own = changes.filter(({ path }) => owner.findRepository(path) === undefined)
  // Git has no rules for what is behind a link now.
  const visible = own.filter(({ path }) => !owner.isBehindLink(path))
  const ignored = await listIgnored(directory, visible, context)
  if (options.commits !== undefined) await fetchCommits(git, options.commits, context)
  const { parents, base } = await findParents(git, ref, options)
  const author = await createSignature(git, options.author)
  const prefix = (await git.readLine('rev-parse', '--show-prefix')) ?? ''
  await using stream = new FastImport(gitDirectory, ref, context)
  await stream.begin({ mark: 1, author, committer: author, message: `${options.message}\n`, parents })
  const tree = base === undefined ? undefined : await git.readLine('rev-parse', `${base}^{tree}`)
  if (tree !== undefined) await stream.putTree(tree)
  for (const change of own) {
    signal?.throwIfAborted()
    if (ignored.has(change.path) || change.kind === 'other') continue
    await stream.apply({ ...change, path: `/${prefix}${change.path.slice(1)}` })
  }
  await stream.finish()
  await dropEmptyCommit(git, ref)
  const commit = (await git.readLine('rev-parse', ref)) ?? ''
  return { commit, branch, ignored: ignored.size, nested: [...nested] }
}

/** Returns the repository and the ref of a branch that may be written. */
async function openBranch(git: GitQuery, branch: string): Promise<{ gitDirectory: string; ref: string }> {
  const gitDirectory = await git.readLine('rev-parse', '--absolute-git-dir')
  if (gitDirectory === undefined)
    throw createError(
      'ENOENT',
      git.directory,
      'it is not in a git repository; run git init, or use coppice apply',
    )
  const ref = `refs/heads/${branch}`
  if ((await git.readLine('check-ref-format', ref)) === undefined)
    throw createError('EINVAL', git.directory, `'${branch}' is not a valid branch name`)
  if ((await git.readLine('symbolic-ref', '--quiet', 'HEAD')) === ref)
    throw createError(
      'ECONFLICT',
      git.directory,
      `the branch '${branch}' is checked out; name another with --branch`,
    )
  return { gitDirectory, ref }
}

/** Finds the parents of the commit, and the one whose files it changes. */
async function findParents(
  git: GitQuery,
  ref: string,
  { bases = [], commits }: CommitChangesOptions,
): Promise<{ parents: string[]; base: string | undefined }> {
  const tip = await git.readLine('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)
  const base = commits?.tip ?? (await findBaseOfHead(git, bases))
  if (base === undefined) return { parents: tip === undefined ? [] : [tip], base }
  const isAncestor = async (one: string, other: string) =>
    (await git.readLine('merge-base', '--is-ancestor', one, other)) !== undefined
  // The branch may have an earlier state of the same work.
  if (tip === undefined || (await isAncestor(tip, base))) return { parents: [base], base }
  return { parents: (await isAncestor(base, tip)) ? [tip] : [tip, base], base }
}

async function findBaseOfHead(git: GitQuery, bases: readonly BaseFile[]): Promise<string | undefined> {
  const head = await git.readLine('rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  if (head === undefined) return undefined
  return findBase(git, head, bases, (await git.readLine('rev-parse', '--show-prefix')) ?? '')
}

async function createSignature(git: GitQuery, author: string | undefined): Promise<string> {
  const own = author === undefined ? await git.readLine('var', 'GIT_AUTHOR_IDENT') : undefined
  return own ?? `${author ?? 'Coppice <coppice@localhost>'} ${Math.floor(Date.now() / 1000)} +0000`
}

/** Moves a branch back before its last commit if that has one parent and no changes. */
async function dropEmptyCommit(git: GitQuery, ref: string): Promise<void> {
  const [, , ...more] = (await git.readLine('rev-list', '--parents', '--max-count=1', ref))?.split(' ') ?? []
  const trees = await git.readLine('rev-parse', `${ref}^{tree}`, `${ref}^^{tree}`)
  const [own, before] = trees?.split('\n') ?? []
  if (more.length === 0 && own === before) await git.readLine('update-ref', ref, `${ref}^`)
}

/** Lists the paths that Git ignores and does not track. */
async function listIgnored(
  directory: string,
  changes: readonly ExportedChange[],
  context: GitContext,
): Promise<ReadonlySet<string>> {
  const child = startGit(['-C', directory, 'check-ignore', '--stdin', '-z'], context)
  child.stdin.on('error', () => {})
  child.stdin.end(changes.map(({ path }) => `.${path}\0`).join(''))
  const [code, output, message] = await Promise.all([
    waitForExit(child),
    text(child.stdout),
    text(child.stderr),
  ])
  if (code !== 0 && code !== NONE_IGNORED)
    throw createError('EIO', directory, `git check-ignore failed with exit code ${code}: ${message.trim()}`)
  return new Set(output.split('\0').flatMap((name) => (name === '' ? [] : name.slice(1))))
}

function createError(code: ErrorCode, path: string, detail: string): VfsError {
  return new VfsError(code, path, { op: 'export', detail })
}
