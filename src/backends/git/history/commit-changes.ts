import { text } from 'node:stream/consumers'
import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import type { ExportedChange } from '../../vault/index.ts'
import { type GitContext, runGit, startGit, waitForExit } from '../native/git-command.ts'
import { FastImport } from './fast-import.ts'

/** Exit code of `git check-ignore` for names of which none is ignored. */
const NONE_IGNORED = 1

/** Options of `commitChanges`. */
export interface CommitChangesOptions {
  readonly branch: string
  readonly message: string
  /** Author, as `Ada <ada@example.org>`. That of the repository when absent. */
  readonly author?: string
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
}

/**
 * Writes changes of a directory as a commit to a branch of its repository. The commit follows the tip of the branch, or
 * the checked out commit for a new branch. It has the files of the checked out commit with these changes. Neither the index
 * nor a file of the directory is touched. ECONFLICT if the branch is checked out, ENOENT without a repository, EINVAL for an
 * invalid branch name, EIO if Git fails.
 */
export async function commitChanges(
  directory: string,
  changes: readonly ExportedChange[],
  options: CommitChangesOptions,
): Promise<CommitChangesReport> {
  const { branch, message, environment, signal } = options
  const context: GitContext = environment === undefined ? {} : { environment }
  const git = (...args: string[]) => readLine(directory, args, context)
  const gitDirectory = await git('rev-parse', '--absolute-git-dir')
  if (gitDirectory === undefined)
    throw createError(
      'ENOENT',
      directory,
      'it is not in a git repository; run git init, or use coppice apply',
    )
  const ref = `refs/heads/${branch}`
  if ((await git('check-ref-format', ref)) === undefined)
    throw createError('EINVAL', directory, `'${branch}' is not a valid branch name`)
  if ((await git('symbolic-ref', '--quiet', 'HEAD')) === ref)
    throw createError(
      'ECONFLICT',
      directory,
      `the branch '${branch}' is checked out; name another with --branch`,
    )
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  const parent = (await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)) ?? head
  const prefix = (await git('rev-parse', '--show-prefix')) ?? ''
  const ignored = await listIgnored(directory, changes, context)
  const signature = options.author === undefined ? await git('var', 'GIT_AUTHOR_IDENT') : undefined
  const author =
    signature ?? `${options.author ?? 'Coppice <coppice@localhost>'} ${Math.floor(Date.now() / 1000)} +0000`

  await using stream = new FastImport(gitDirectory, ref, context)
  const parents = parent === undefined ? [] : [parent]
  await stream.begin({ mark: 1, author, committer: author, message: `${message}\n`, parents })
  // The tip of the branch may have an earlier state of the same work.
  const tree = head === undefined ? undefined : await git('rev-parse', `${head}^{tree}`)
  if (tree !== undefined) await stream.putTree(tree)
  for (const change of changes) {
    signal?.throwIfAborted()
    if (ignored.has(change.path) || change.kind === 'other') continue
    await stream.apply({ ...change, path: `/${prefix}${change.path.slice(1)}` })
  }
  await stream.finish()
  return { commit: (await git('rev-parse', ref)) ?? '', branch, ignored: ignored.size }
}

/** Returns the output of Git without its last line feed; undefined if it fails. */
async function readLine(
  directory: string,
  args: readonly string[],
  context: GitContext,
): Promise<string | undefined> {
  const { code, output } = await runGit(['-C', directory, ...args], context)
  return code === 0 ? output.replace(/\n$/, '') : undefined
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
  const [code, output] = await Promise.all([waitForExit(child), text(child.stdout), text(child.stderr)])
  if (code !== 0 && code !== NONE_IGNORED)
    throw createError('EIO', directory, `git check-ignore failed with exit code ${code}`)
  return new Set(output.split('\0').flatMap((name) => (name === '' ? [] : name.slice(1))))
}

function createError(code: ErrorCode, path: string, detail: string): VfsError {
  return new VfsError(code, path, { op: 'export', detail })
}
