import {
  type CallContext,
  isVfsError,
  isWithin,
  type PathChange,
  relativeTo,
  type Stat,
} from '../vfs/index.ts'
import type { TreePair } from './patch.ts'

/**
 * Lists changes as a patch needs them: each file once, with its old path. A renamed and changed file is one change; a
 * renamed directory becomes one change per file. An added or deleted directory is a change too.
 */
export async function* listFileChanges(
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<PathChange> {
  const all = await Array.fromAsync(changes)
  const renames = all.filter(({ kind }) => kind === 'renamed')
  const reported = new Set(all.filter(({ kind }) => kind !== 'renamed').map(({ path }) => path))
  for (const change of all) {
    if (change.kind === 'modified') yield await withOrigin(change, renames, trees, ctx)
    else if (change.kind === 'added' || change.kind === 'deleted') yield change
    else if (change.after?.type === 'directory')
      yield* listRenamedFiles(change, renames, reported, trees, ctx)
    else if (!reported.has(change.path)) yield change
  }
}

/**
 * Adds the old path to a changed file that was moved, itself or with a directory. Unchanged if another file was there.
 */
async function withOrigin(
  change: PathChange,
  renames: readonly PathChange[],
  trees: TreePair,
  ctx: CallContext,
): Promise<PathChange> {
  const from = findOrigin(change.path, renames)
  const before = from === change.path ? undefined : await statIfPresent(trees, from, ctx)
  if (before === undefined || before.type !== change.before?.type || before.size !== change.before.size)
    return change
  return { ...change, kind: 'renamed', from, before }
}

/** Lists the files below a renamed directory that no other change reports, each with its old path. */
async function* listRenamedFiles(
  { path: directory }: PathChange,
  renames: readonly PathChange[],
  reported: ReadonlySet<string>,
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<PathChange> {
  // Renames below it report themselves and their files.
  const inner = renames
    .map(({ path }) => path)
    .filter((path) => path !== directory && isWithin(path, directory))
  for await (const { path, stat: after } of trees.after.walk(directory, {}, ctx)) {
    if (reported.has(path) || inner.some((covered) => isWithin(path, covered))) continue
    const from = findOrigin(path, renames)
    const before = await statIfPresent(trees, from, ctx)
    if (before !== undefined) yield { kind: 'renamed', path, from, before, after }
  }
}

/** Returns the path before the renames; the nearest renamed parent counts. */
function findOrigin(path: string, renames: readonly PathChange[]): string {
  const [nearest] = renames
    .filter((rename) => relativeTo(path, rename.path) !== null)
    .sort((one, other) => other.path.length - one.path.length)
  if (nearest?.from === undefined) return path
  const rest = relativeTo(path, nearest.path)
  return rest === '' || rest === null ? nearest.from : `${nearest.from}/${rest}`
}

async function statIfPresent(
  { before }: TreePair,
  path: string,
  ctx: CallContext,
): Promise<Stat | undefined> {
  try {
    return await before.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
