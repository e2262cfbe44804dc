import { mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isErrno } from '../../../machine/index.ts'
import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import type { ExportedStep, Home, TransferProgress } from '../../vault/index.ts'
import { type GitContext, runGit } from '../native/git-command.ts'
import { locateRepository } from '../native/open-repository.ts'
import { parseCommitNotes } from './commit-notes.ts'
import { CommitWriter } from './commit-writer.ts'
import { FastImport } from './fast-import.ts'

/** Options of `exportGit`. */
export interface GitExportOptions {
  /** The branch that gets the commits. `main` when absent. */
  readonly branch?: string
  /** Author of checkpoints that came from no commit. `Coppice <coppice@localhost>` when absent. */
  readonly author?: string
  /** Variables for Git: `PATH` to find it. */
  readonly environment?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Called after every commit. */
  readonly onProgress?: (progress: TransferProgress) => void
}

/** Result of `exportGit`. */
export interface GitExportReport {
  /** The commit at the tip of the branch. */
  readonly commit: string
  readonly branch: string
  readonly commits: number
  /** Paths of devices, sockets and pipes, which no commit can contain. */
  readonly skipped: readonly string[]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_BRANCH = /^$|^[-./]|\.\.|[\u0000-\u0020\u007f~^:?*[\\]|@\{|\/$|\/\/|\/\.|\.lock$|\.$/

/**
 * Writes the checkpoints of a vault as commits to a branch of a repository, and creates a bare one if there is none.
 * Those of a fork follow the checkpoints it was forked from, so that Git can merge the branch.
 * The same checkpoints give the same commits, and an imported history gets its original ids, except for signed commits.
 * The branch changes last and only forward: ECONFLICT if it has other commits or is checked out. Needs Git. EINVAL for a
 * branch or file name that Git does not allow, ENOENT without such a vault, checkpoints or a parent directory, EACCES if the
 * repository cannot be created, EIO if Git fails.
 */
export async function exportGit(
  home: Home,
  vault: string,
  repository: string,
  options: GitExportOptions = {},
): Promise<GitExportReport> {
  const { branch = 'main', environment, signal } = options
  if (INVALID_BRANCH.test(branch))
    throw createExportError('EINVAL', repository, `'${branch}' is not a valid branch name`)
  const target = resolve(repository)
  const context: GitContext = environment === undefined ? {} : { environment }
  const isNew = await isAbsentOrEmpty(target)
  if (!isNew) await locateRepository({ repository: target, ...context })
  if ((await (await home.vault(vault)).checkpoints()).length === 0)
    throw createExportError('ENOENT', vault, 'the vault has no checkpoint to export; create one first')
  // Next to the target, so that one rename puts it there.
  const scratch = await mkdtemp(`${target}.tmp-`).catch((cause) => {
    throw createUnwritableError(dirname(target), cause)
  })
  try {
    const { total, format } = await surveySteps(home.history(vault))
    await initRepository(scratch, branch, format, context)
    const report = await writeCommits(home.history(vault), scratch, { ...options, branch, total })
    signal?.throwIfAborted()
    if (isNew) await installRepository(scratch, target)
    else await fetchBranch(scratch, target, branch, context)
    return report
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function writeCommits(
  steps: AsyncIterable<ExportedStep>,
  scratch: string,
  {
    branch = 'main',
    total,
    author,
    environment,
    signal,
    onProgress,
  }: GitExportOptions & { readonly total: number },
): Promise<GitExportReport> {
  const context: GitContext = environment === undefined ? {} : { environment }
  await using stream = new FastImport(scratch, `refs/heads/${branch}`, context)
  const writer = new CommitWriter(stream, author)
  for await (const step of steps) {
    signal?.throwIfAborted()
    await writer.write(step)
    onProgress?.({ done: writer.commits, total, bytes: writer.bytes })
  }
  await stream.finish()
  const commit = await readGitOutput(['--git-dir', scratch, 'rev-parse', `refs/heads/${branch}`], context)
  return { commit, branch, commits: writer.commits, skipped: [...writer.skipped] }
}

/** Counts the steps, and finds the kind of ids that imported commits have. */
async function surveySteps(
  steps: AsyncIterable<ExportedStep>,
): Promise<{ readonly total: number; readonly format: 'sha1' | 'sha256' }> {
  let [total, hasLongIds] = [0, false]
  for await (const step of steps) {
    total++
    hasLongIds ||= parseCommitNotes(step)?.commit.length === 64
  }
  return { total, format: hasLongIds ? 'sha256' : 'sha1' }
}

async function initRepository(
  directory: string,
  branch: string,
  format: string,
  context: GitContext,
): Promise<void> {
  const kind = [`--object-format=${format}`, `--initial-branch=${branch}`]
  await readGitOutput(['init', '--quiet', '--bare', '--template=', ...kind, '--', directory], context)
}

async function installRepository(scratch: string, target: string): Promise<void> {
  // Removes only an empty directory; there may be none.
  await rmdir(target).catch(() => {})
  await rename(scratch, target).catch((cause) => {
    throw createUnwritableError(target, cause)
  })
}

/** Fetches into an existing repository, which changes the branch last. */
async function fetchBranch(
  scratch: string,
  target: string,
  branch: string,
  context: GitContext,
): Promise<void> {
  const ref = `refs/heads/${branch}`
  const command = ['fetch', '--no-tags', '--no-write-fetch-head', '--recurse-submodules=no']
  const args = ['-C', target, ...command, '--', scratch, `${ref}:${ref}`]
  const { code, stderr } = await runGit(args, { ...context, protocols: 'file' })
  if (code === 0) return
  if (stderr.includes('non-fast-forward'))
    throw createExportError(
      'ECONFLICT',
      target,
      `the branch '${branch}' has commits that the vault lacks; name another branch`,
    )
  if (stderr.includes('refusing to fetch into'))
    throw createExportError('ECONFLICT', target, `the branch '${branch}' is checked out; name another branch`)
  throw createExportError('EIO', target, `git could not fetch the commits: ${stderr.replaceAll('\n', '; ')}`)
}

/** Runs Git and returns its line of output. EIO if it fails. */
async function readGitOutput(args: readonly string[], context: GitContext): Promise<string> {
  const { code, output, stderr } = await runGit(args, context)
  if (code !== 0) throw createExportError('EIO', '/', `git failed: ${stderr}`)
  return output.trim()
}

async function isAbsentOrEmpty(target: string): Promise<boolean> {
  try {
    return (await readdir(target)).length === 0
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true
    throw createExportError('ENOENT', target, 'not a directory, so not a git repository')
  }
}

/** Converts a system error at the repository or its parent directory. */
function createUnwritableError(target: string, cause: unknown): VfsError {
  const isMissing = isErrno(cause, 'ENOENT')
  const reason = cause instanceof Error ? cause.message : String(cause)
  return isMissing
    ? createExportError('ENOENT', target, 'the parent directory does not exist; create it first')
    : createExportError(
        'EACCES',
        target,
        `cannot create a repository there (${reason}); name another directory`,
      )
}

function createExportError(code: ErrorCode, path: string, detail: string): VfsError {
  return new VfsError(code, path, { op: 'export', detail })
}
