import { type CallContext, type FileSystem, isVfsError, type PathChange, type Stat } from '../vfs/index.ts'
import type { TreePair } from './patch.ts'

/**
 * Replaces each rename that git would refuse by what happened to both paths: a rename over another file, or from a path
 * that other changes mention too. Returns the changes by path, a deletion before a new entry of the same path.
 */
export async function splitReplacingRenames(
  changes: readonly PathChange[],
  trees: TreePair,
  ctx: CallContext,
): Promise<PathChange[]> {
  const moves = new MovedPaths(changes)
  const kept: PathChange[] = []
  for (const change of changes) {
    if (change.kind !== 'renamed' || (await isPlainRename(change, moves, trees, ctx))) kept.push(change)
    else kept.push(...(await splitRename(change, moves, trees, ctx)))
  }
  return sortChanges(kept)
}

/** The paths of some changes, by what happens to them. */
class MovedPaths {
  readonly #changes: readonly PathChange[]
  readonly #left: ReadonlySet<string>
  readonly #taken: ReadonlySet<string>
  readonly #deleted: Set<string>
  readonly #sources = new Map<string, number>()

  constructor(changes: readonly PathChange[]) {
    this.#changes = changes
    this.#deleted = this.#listPaths('deleted')
    for (const { kind, from } of changes)
      if (kind === 'renamed' && from !== undefined)
        this.#sources.set(from, (this.#sources.get(from) ?? 0) + 1)
    this.#left = this.#deleted.union(new Set(this.#sources.keys()))
    this.#taken = this.#listPaths('added').union(this.#listPaths('renamed'))
  }

  /** Reports whether the entry of the old tree at a path is moved or deleted. */
  isLeft(path: string): boolean {
    return this.#left.has(path)
  }

  /** Reports whether a path has a new or moved entry. */
  isTaken(path: string): boolean {
    return this.#taken.has(path)
  }

  /** Reports whether exactly one rename, and no deletion, starts at a path. */
  isOnlySource(path: string): boolean {
    return this.#sources.get(path) === 1 && !this.#deleted.has(path)
  }

  /** Records the deletion of a path; false if it is deleted already. */
  addDeletion(path: string): boolean {
    if (this.#deleted.has(path)) return false
    this.#deleted.add(path)
    return true
  }

  #listPaths(kind: PathChange['kind']): Set<string> {
    return new Set(this.#changes.filter((change) => change.kind === kind).map(({ path }) => path))
  }
}

async function isPlainRename(
  { path, from }: PathChange,
  moves: MovedPaths,
  { before, after }: TreePair,
  ctx: CallContext,
): Promise<boolean> {
  if (from === undefined || !moves.isOnlySource(from)) return false
  const isFree = moves.isLeft(path) || (await statInTree(before, path, ctx)) === undefined
  return isFree && (moves.isTaken(from) || (await statInTree(after, from, ctx)) === undefined)
}

/** Returns the changes of both paths of a rename. */
async function splitRename(
  { path, from, before, after }: PathChange,
  moves: MovedPaths,
  trees: TreePair,
  ctx: CallContext,
): Promise<PathChange[]> {
  const changes: PathChange[] = []
  const add = (kind: PathChange['kind'], at: string, sides: Pick<PathChange, 'before' | 'after'>) =>
    changes.push({ kind, path: at, ...sides })
  const rest = from === undefined ? undefined : await statInTree(trees.after, from, ctx)
  // A directory in its place has entries, which are changes of their own.
  const isGone =
    rest === undefined || rest.type === 'directory' || (from !== undefined && moves.isTaken(from))
  if (isGone && from !== undefined && before !== undefined && moves.addDeletion(from))
    add('deleted', from, { before })
  if (after === undefined) return changes
  const replaced = moves.isLeft(path) ? undefined : await statInTree(trees.before, path, ctx)
  if (replaced?.type === after.type) add('modified', path, { before: replaced, after })
  else if (replaced !== undefined && replaced.type !== 'directory' && moves.addDeletion(path))
    add('deleted', path, { before: replaced })
  if (replaced?.type !== after.type) add('added', path, { after })
  return changes
}

const RANKS: Readonly<Record<PathChange['kind'], number>> = { deleted: 0, renamed: 1, modified: 2, added: 2 }

/**
 * Sorts changes by path, those of one path as git can apply and revert them. A new entry at the old path of a rename
 * follows the rename.
 */
function sortChanges(changes: readonly PathChange[]): PathChange[] {
  const targets = new Map<string, string>()
  for (const { kind, from, path } of changes)
    if (kind === 'renamed' && from !== undefined) targets.set(from, path)
  const getPosition = ({ kind, path }: PathChange) => {
    const target = kind === 'added' ? targets.get(path) : undefined
    return target === undefined || target < path ? path : target
  }
  return changes
    .map((change) => ({ change, position: getPosition(change), rank: RANKS[change.kind] }))
    .sort((one, other) =>
      one.position === other.position ? one.rank - other.rank : one.position < other.position ? -1 : 1,
    )
    .map(({ change }) => change)
}

const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP'] as const

/** Returns the stat of a path, or undefined if it does not exist. No link leads to it. */
export async function statInTree(
  tree: FileSystem,
  path: string,
  ctx: CallContext,
): Promise<Stat | undefined> {
  try {
    return await tree.stat(path, { ...ctx, links: 'refuse' })
  } catch (error) {
    if (MISSING.some((code) => isVfsError(error, code))) return undefined
    throw error
  }
}
