import { type CallContext, isWithin, type PathChange, relativeTo } from '../vfs/index.ts'
import type { TreePair } from './patch.ts'
import { splitReplacingRenames, statInTree } from './replacing-renames.ts'

/**
 * Lists changes as a patch needs them: each file once, with its old path. A renamed and changed file is one change; a
 * renamed directory becomes one change per file. A rename over another file is a deletion and a change of that file. An
 * added or deleted directory is a change too.
 */
export async function* listFileChanges(
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<PathChange> {
  const all = await Array.fromAsync(changes)
  const expanded = await Array.fromAsync(expandRenames(all, trees, ctx))
  yield* await splitReplacingRenames(expanded, trees, ctx)
}

async function* expandRenames(
  all: readonly PathChange[],
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<PathChange> {
  const renames = all.filter(({ kind }) => kind === 'renamed')
  // A deleted entry may have made room for a renamed one of another type.
  const reported = new Set(
    all.filter(({ kind }) => kind === 'modified' || kind === 'added').map(({ path }) => path),
  )
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
  const before = from === change.path ? undefined : await statInTree(trees.before, from, ctx)
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
    const before = await statInTree(trees.before, from, ctx)
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
