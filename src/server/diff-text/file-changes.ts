import {
  type CallContext,
  type Change,
  isVfsError,
  isWithin,
  relativeTo,
  type Stat,
} from '../../vfs/index.ts'
import type { Trees } from './patch.ts'

/**
 * Changes as a patch tells them: each file once, with where it was before. What was renamed and changed is one
 * change, and a renamed directory is each of its files. A directory that came or went empty is one, too.
 */
export async function* fileChanges(
  changes: AsyncIterable<Change> | Iterable<Change>,
  trees: Trees,
  ctx: CallContext,
): AsyncGenerator<Change> {
  const all = await Array.fromAsync(changes)
  const renames = all.filter(({ kind }) => kind === 'renamed')
  const told = new Set(all.filter(({ kind }) => kind !== 'renamed').map(({ path }) => path))
  for (const change of all) {
    if (change.kind === 'modified') yield await withOrigin(change, renames, trees, ctx)
    else if (change.kind === 'added' || change.kind === 'deleted') yield change
    else if (change.after?.type === 'directory') yield* renamedBelow(change, renames, told, trees, ctx)
    else if (!told.has(change.path)) yield change
  }
}

/** A changed file that was also moved, or lies in a directory that was, comes from there. */
async function withOrigin(
  change: Change,
  renames: readonly Change[],
  trees: Trees,
  ctx: CallContext,
): Promise<Change> {
  const from = originOf(change.path, renames)
  const before = from === change.path ? undefined : await statOf(trees, from, ctx)
  if (before === undefined || before.type !== change.before?.type || before.size !== change.before.size)
    return change
  return { ...change, kind: 'renamed', from, before }
}

async function* renamedBelow(
  { path: directory }: Change,
  renames: readonly Change[],
  told: ReadonlySet<string>,
  trees: Trees,
  ctx: CallContext,
): AsyncGenerator<Change> {
  // What was renamed below it tells of itself and of its own files.
  const inner = renames
    .map(({ path }) => path)
    .filter((path) => path !== directory && isWithin(path, directory))
  for await (const { path, stat: after } of trees.after.walk(directory, {}, ctx)) {
    if (told.has(path) || inner.some((other) => isWithin(path, other))) continue
    const from = originOf(path, renames)
    const before = await statOf(trees, from, ctx)
    if (before !== undefined) yield { kind: 'renamed', path, from, before, after }
  }
}

/** Where a path was before the renames: the nearest one above it counts. */
function originOf(path: string, renames: readonly Change[]): string {
  const [nearest] = renames
    .filter((rename) => relativeTo(path, rename.path) !== null)
    .sort((one, other) => other.path.length - one.path.length)
  if (nearest?.from === undefined) return path
  const rest = relativeTo(path, nearest.path)
  return rest === '' || rest === null ? nearest.from : `${nearest.from}/${rest}`
}

async function statOf({ before }: Trees, path: string, ctx: CallContext): Promise<Stat | undefined> {
  try {
    return await before.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
