import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, DirEntry, FileSystem, Stat, WalkEntry, WalkOptions } from '../file-system.ts'
import { grep } from '../helpers/grep.ts'
import { statIfPresent } from '../helpers/stat-if-present.ts'
import { mergeEntries } from '../merge-entries.ts'
import { child } from '../path.ts'
import type { Match, SearchQuery } from '../protocols.ts'
import { ReadyStream } from '../ready-stream.ts'
import type { Mount } from './mount.ts'
import type { MountPoints } from './mount-points.ts'

/**
 * Walks over many mounts. Each file system walks its own subtrees without mount points. Only the few directories that
 * lead to a mount point are listed through the table, so hidden paths are never yielded.
 */
export function walkMounts(
  table: FileSystem,
  points: MountPoints,
  root: string,
  options: WalkOptions,
  ctx?: CallContext,
): AsyncIterable<WalkEntry> {
  if (points.findNamesIn(root) !== undefined) return walkMixed(table, points, root, options, ctx)
  const mount = points.route(root)
  if (mount === undefined) return new ReadyStream<WalkEntry>(() => undefined)
  const entries = mount.fs.walk(mount.toInnerPath(root), options, ctx)
  if (mount.prefix === '') return mount.translateStream(entries)
  return mount.translateStream(entries, ({ path, stat }) => ({ path: mount.prefix + path, stat }))
}

async function* walkMixed(
  table: FileSystem,
  points: MountPoints,
  directory: string,
  options: WalkOptions,
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  const { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false } = options
  if (maxDepth < 1) return
  for await (const { path, stat } of listReadableChildren(table, directory, ctx)) {
    if (stat.type !== 'directory') yield { path, stat }
    else {
      if (includeDirs) yield { path, stat }
      yield* walkMounts(table, points, path, { includeDirs, maxDepth: maxDepth - 1 }, ctx)
    }
  }
}

/** Searches over many mounts. Each file system searches its own subtrees without mount points. */
export async function* searchMounts(
  table: FileSystem,
  points: MountPoints,
  root: string,
  query: SearchQuery,
  ctx?: CallContext,
): AsyncGenerator<Match> {
  if (points.findNamesIn(root) === undefined) {
    const mount = points.route(root)
    if (mount === undefined && root !== '/') throw new VfsError('ENOENT', root, { op: 'search' })
    if (mount === undefined) return
    const onUnreadable: SearchQuery['onUnreadable'] = (path, error) =>
      query.onUnreadable?.(mount.toOuterPath(path), error)
    const matches = grep(mount.fs, mount.toInnerPath(root), { ...query, onUnreadable }, ctx)
    yield* mount.translateStream(matches, (match) => ({ ...match, path: mount.toOuterPath(match.path) }))
    return
  }
  for await (const { path, stat } of listReadableChildren(table, root, ctx)) {
    if (stat.type === 'directory') yield* searchMounts(table, points, path, query, ctx)
    if (stat.type === 'file') yield* skipUnreadable(searchMounts(table, points, path, query, ctx))
  }
}

/** Lists a directory that leads to mounts: the mount points merged with the real entries. */
export async function* listMixedEntries(
  mount: Mount | undefined,
  path: string,
  names: readonly string[],
  ctx?: CallContext,
): AsyncGenerator<DirEntry> {
  const mounted = names.map((name): DirEntry => ({ name, type: 'directory' }))
  // Only a directory has entries to merge; anything else at this path is hidden.
  const real = await mount?.call((fs) => statIfPresent(fs, mount.toInnerPath(path), ctx))
  if (mount === undefined || real?.type !== 'directory') yield* mounted
  else yield* mergeEntries(mounted, mount.translateStream(mount.fs.readdir(mount.toInnerPath(path), ctx)))
}

async function* skipUnreadable<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    ignoreUnreadable(error)
  }
}

/** Yields the children of a directory with their stats. Skips whatever cannot be read. */
async function* listReadableChildren(
  fs: FileSystem,
  directory: string,
  ctx?: CallContext,
): AsyncGenerator<{ path: string; stat: Stat }> {
  try {
    for await (const { name } of fs.readdir(directory, ctx)) {
      const path = child(directory, name)
      const stat = await fs.stat(path, ctx).catch(ignoreUnreadable)
      if (stat !== undefined) yield { path, stat }
    }
  } catch (error) {
    ignoreUnreadable(error)
  }
}

function ignoreUnreadable(error: unknown): undefined {
  if (!isVfsError(error)) throw error
}
