import {
  type CallContext,
  type FileSystem,
  type FileType,
  isVfsError,
  type PathChange,
  readFile,
} from '../vfs/index.ts'
import { type GitPath, isKeptByGit, parseGitPath } from './git-path.ts'
import { parseCheckedOut, parseCommitId } from './parse-ref.ts'
import { MAX_COMMIT_BYTES, walkCommits } from './walk-commits.ts'

/** A branch or tag that changed, with the number of commits that it gained. */
export interface GitRefChange {
  readonly name: string
  readonly kind: 'created' | 'moved' | 'deleted'
  readonly commits: number
}

/** Changes of what git keeps by itself. */
export interface GitSummary {
  readonly files: number
  readonly refs: readonly GitRefChange[]
  /** Branches, or beginnings of commits, that are checked out now and were not before: one for each repository. */
  readonly checkedOut: readonly string[]
}

export interface SeparatedChanges {
  /** The changes of all other files. */
  readonly changes: readonly PathChange[]
  /** Undefined if git changed nothing. */
  readonly git: GitSummary | undefined
}

/** The change of a path that may be a ref. */
export interface RefChange {
  readonly path: string
  readonly kind: PathChange['kind']
  /** Commits that it gained. */
  readonly commits?: number | undefined
  /** Branch or commit that HEAD names now. */
  readonly checkedOut?: string | undefined
  /** States of the path; a file where neither is known. */
  readonly before?: { readonly type: FileType } | undefined
  readonly after?: { readonly type: FileType } | undefined
}

/**
 * Separates changes of what git keeps by itself, such as the objects of a new commit, from those of other files.
 * O(changes): only new objects are read.
 */
export async function separateGitChanges(
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  { after }: { readonly after: FileSystem },
  ctx: CallContext = {},
): Promise<SeparatedChanges> {
  const [others, own]: [PathChange[], PathChange[]] = [[], []]
  for await (const change of changes) (isChangeOfGit(change) ? own : others).push(change)
  if (own.length === 0) return { changes: others, git: undefined }
  const added = new Set(own.filter(({ kind }) => kind !== 'deleted').map(({ path }) => path))
  const counted: RefChange[] = []
  for (const change of own) {
    const commits = await countNewCommits(change.path, added, after, ctx)
    const head = isHeadMove(change) ? await readSmallFile(change.path, after, ctx) : undefined
    counted.push({ ...change, commits, checkedOut: head && parseCheckedOut(head) })
  }
  return { changes: others, git: summarizeGit(counted) }
}

/** Summarises changes of what git keeps by itself; undefined if there are none. */
export function summarizeGit(changes: readonly RefChange[]): GitSummary | undefined {
  if (changes.length === 0) return undefined
  return {
    files: changes.length,
    refs: changes.flatMap((change) => toRefChange(change) ?? []),
    checkedOut: changes.flatMap(({ path, checkedOut }) => {
      const git = parseGitPath(path)
      return git === undefined || checkedOut === undefined ? [] : [`${checkedOut}${formatRepository(git)}`]
    }),
  }
}

/** True if a repository that was there before has something else checked out. */
export function isHeadMove({ path, kind }: Pick<RefChange, 'path' | 'kind'>): boolean {
  const git = kind === 'modified' ? parseGitPath(path) : undefined
  return git?.part === 'ref' && git.name === 'HEAD'
}

/** True for the change of a path that git keeps by itself, before and after. */
export function isChangeOfGit(
  change: Pick<RefChange, 'path' | 'before' | 'after'> & { from?: string },
): boolean {
  const { path, from = path } = change
  const type = getType(change)
  return isKeptByGit(path, type) && isKeptByGit(from, type)
}

/** Returns the type of what is at the path of a change, or was until it was deleted. */
function getType({ before, after }: Pick<RefChange, 'before' | 'after'>): FileType | undefined {
  return (after ?? before)?.type
}

/** Returns undefined for a path that is no ref, and for HEAD, which follows a branch. */
function toRefChange(refChange: RefChange): GitRefChange | undefined {
  const { path, kind, commits = 0 } = refChange
  const git = parseGitPath(path)
  if (git?.part !== 'ref' || git.name === 'HEAD' || getType(refChange) === 'directory') return undefined
  const change = kind === 'added' ? 'created' : kind === 'deleted' ? 'deleted' : 'moved'
  const name = git.name.replace(/^refs\/(?:heads\/)?/, '')
  return { name: `${name}${formatRepository(git)}`, kind: change, commits }
}

/** Names the repository if it is not that of the project. */
function formatRepository({ store }: GitPath): string {
  return store === '/.git' ? '' : ` of ${store.replace(/\/\.git$/, '')}`
}

/** Counts the commits of a ref among new objects. */
async function countNewCommits(
  path: string,
  added: ReadonlySet<string>,
  tree: FileSystem,
  ctx: CallContext,
): Promise<number> {
  const git = added.has(path) ? parseGitPath(path) : undefined
  const tip = git?.part === 'ref' ? await readTip(path, tree, ctx) : undefined
  if (git === undefined || tip === undefined) return 0
  const walk = walkCommits(git.store, tip)
  let step = walk.next()
  while (step.done !== true)
    step = walk.next(added.has(step.value) ? await readSmallFile(step.value, tree, ctx) : undefined)
  return step.value.size
}

async function readTip(path: string, tree: FileSystem, ctx: CallContext): Promise<string | undefined> {
  const content = await readSmallFile(path, tree, ctx)
  return content === undefined ? undefined : parseCommitId(content)
}

/** Reads a file; undefined if it is none, or too large for a commit. */
async function readSmallFile(
  path: string,
  tree: FileSystem,
  ctx: CallContext,
): Promise<Uint8Array | undefined> {
  try {
    const { type, size } = await tree.stat(path, ctx)
    return type === 'file' && size <= MAX_COMMIT_BYTES ? await readFile(tree, path, {}, ctx) : undefined
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
