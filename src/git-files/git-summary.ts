import {
  type CallContext,
  type FileSystem,
  type FileType,
  isVfsError,
  type PathChange,
  readFile,
} from '../vfs/index.ts'
import { isSameStaging } from './git-index.ts'
import { type GitPath, isKeptByGit, parseGitPath } from './git-path.ts'
import { findPackedRefsPath, MAX_PACKED_BYTES } from './packed-refs.ts'
import { parseCheckedOut } from './parse-ref.ts'
import { type FileContents, findRefMoves, listRefFiles, type RefMove } from './ref-moves.ts'
import { MAX_COMMIT_BYTES, walkCommits } from './walk-commits.ts'

/** Limit of an index that is compared: some 500,000 files. */
const MAX_INDEX_BYTES = 64 * 2 ** 20

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
  /** Refs whose commits changed by it. For a path of a ref without this, its own kind counts. */
  readonly refs?: readonly RefMove[] | undefined
  /** Branch or commit that HEAD names now. */
  readonly checkedOut?: string | undefined
  /** States of the path; a file where neither is known. */
  readonly before?: { readonly type: FileType } | undefined
  readonly after?: { readonly type: FileType } | undefined
}

/**
 * Separates changes of what git keeps by itself, such as the objects of a new commit, from those of other files. An
 * index that git only wrote again, as `git status` does, is in neither. O(changes): only new objects and indexes are read.
 */
export async function separateGitChanges(
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  trees: { readonly before?: FileSystem; readonly after: FileSystem },
  ctx: CallContext = {},
): Promise<SeparatedChanges> {
  const [others, own]: [PathChange[], PathChange[]] = [[], []]
  for await (const change of changes) {
    if (!isChangeOfGit(change)) others.push(change)
    else if (!(await isRefreshedIndex(change, trees, ctx))) own.push(change)
  }
  if (own.length === 0) return { changes: others, git: undefined }
  const added = new Set(own.filter(({ kind }) => kind !== 'deleted').map(({ path }) => path))
  const moves = findRefMoves(listFiles(own), await readRefFiles(listFiles(own), trees, ctx))
  const counted: RefChange[] = []
  for (const change of own) {
    const refs = await countCommits(moves.get(change.path), added, trees.after, ctx)
    const head = isHeadMove(change) ? await readSmallFile(change.path, trees.after, ctx) : undefined
    counted.push({ ...change, refs, checkedOut: head && parseCheckedOut(head) })
  }
  return { changes: others, git: summarizeGit(counted) }
}

async function isRefreshedIndex(
  { path, kind }: PathChange,
  { before, after }: { readonly before?: FileSystem; readonly after: FileSystem },
  ctx: CallContext,
): Promise<boolean> {
  if (kind !== 'modified' || before === undefined || parseGitPath(path)?.part !== 'index') return false
  const read = (tree: FileSystem) => readSmallFile(path, tree, ctx, MAX_INDEX_BYTES)
  const [old, current] = [await read(before), await read(after)]
  return old !== undefined && current !== undefined && isSameStaging(Buffer.from(old), Buffer.from(current))
}

/** Summarises changes of what git keeps by itself; undefined if there are none. */
export function summarizeGit(changes: readonly RefChange[]): GitSummary | undefined {
  if (changes.length === 0) return undefined
  return {
    files: changes.length,
    refs: changes.flatMap(listRefChanges),
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

/** Lists the refs that a change moved: none for another path, and for HEAD, which follows a branch. */
function listRefChanges(change: RefChange): GitRefChange[] {
  const { path, refs } = change
  if (refs !== undefined) return refs.flatMap(toRefChange)
  const isRef = findPackedRefsPath(path) !== undefined && getType(change) !== 'directory'
  return isRef ? toRefChange(change) : []
}

function toRefChange({ path, kind, commits = 0 }: RefChange | RefMove): GitRefChange[] {
  const git = parseGitPath(path)
  if (git === undefined) return []
  const change = kind === 'added' ? 'created' : kind === 'deleted' ? 'deleted' : 'moved'
  const name = git.name.replace(/^refs\/(?:heads\/)?/, '')
  return [{ name: `${name}${formatRepository(git)}`, kind: change, commits }]
}

/** Names the repository if it is not that of the project. */
function formatRepository({ store }: GitPath): string {
  return store === '/.git' ? '' : ` of ${store.replace(/\/\.git$/, '')}`
}

/** Lists the changed paths that are no directories, with the earlier path of what was renamed. */
function listFiles(changes: readonly PathChange[]): string[] {
  const files = changes.filter((change) => getType(change) !== 'directory')
  return files.flatMap(({ path, from = path }) => (from === path ? [path] : [from, path]))
}

async function readRefFiles(
  changed: readonly string[],
  { before, after }: { readonly before?: FileSystem; readonly after: FileSystem },
  ctx: CallContext,
): Promise<Map<string, FileContents>> {
  const contents = new Map<string, FileContents>()
  for (const path of listRefFiles(changed))
    contents.set(path, {
      before: before && (await readSmallFile(path, before, ctx, MAX_PACKED_BYTES)),
      after: await readSmallFile(path, after, ctx, MAX_PACKED_BYTES),
    })
  return contents
}

/** Adds to refs their numbers of commits among new objects. */
async function countCommits(
  moves: readonly RefMove[] | undefined,
  added: ReadonlySet<string>,
  tree: FileSystem,
  ctx: CallContext,
): Promise<RefMove[] | undefined> {
  if (moves === undefined) return undefined
  const counted: RefMove[] = []
  for (const move of moves) counted.push({ ...move, commits: await countNewCommits(move, added, tree, ctx) })
  return counted
}

async function countNewCommits(
  { path, tip }: RefMove,
  added: ReadonlySet<string>,
  tree: FileSystem,
  ctx: CallContext,
): Promise<number> {
  const git = parseGitPath(path)
  if (git === undefined || tip === undefined) return 0
  const walk = walkCommits(git.store, tip)
  let step = walk.next()
  while (step.done !== true)
    step = walk.next(added.has(step.value) ? await readSmallFile(step.value, tree, ctx) : undefined)
  return step.value.size
}

/** Reads a file; undefined if it is none, or too large. */
async function readSmallFile(
  path: string,
  tree: FileSystem,
  ctx: CallContext,
  maxBytes: number = MAX_COMMIT_BYTES,
): Promise<Uint8Array | undefined> {
  try {
    const { type, size } = await tree.stat(path, ctx)
    return type === 'file' && size <= maxBytes ? await readFile(tree, path, {}, ctx) : undefined
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
