import { isVfsError } from '../error.ts'
import type { CallContext, WalkEntry, WalkOptions } from '../file-system.ts'
import { child, relativeTo } from '../path.ts'
import type { LayeredEntry, Layers } from './layers.ts'

/**
 * One level of the walk: the merged entries of a directory, or everything in a subtree that lower walks. Only the latter
 * have `stat`.
 */
type LayerLevel = AsyncIterator<WalkEntry | LayeredEntry>

/**
 * Walks both layers depth first. Lower walks the subtrees that the overlay never touched, so only changed directories
 * pay for merging.
 *
 * @param root the path to report, which differs from `start.path` if a link led there.
 */
export async function* walkLayers(
  layers: Layers,
  start: LayeredEntry,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  const report = ({ path, stat }: WalkEntry): WalkEntry =>
    start.path === root ? { path, stat } : { path: rebasePath(path, start.path, root), stat }
  const levels: LayerLevel[] = []
  const enter = (found: LayeredEntry) => {
    const depth = maxDepth - levels.length
    if (depth < 1) return
    const untouched =
      layers.isUntouched(found) && layers.lower.walk(found.path, { maxDepth: depth, includeDirs }, ctx)
    levels.push((untouched || listMerged(layers, found, ctx))[Symbol.asyncIterator]())
  }
  enter(start)
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const { done, value } = await level.next()
      if (done) levels.pop()
      else if ('stat' in value) yield report(value)
      else {
        const stat = value.upper ?? value.lower
        // It was removed since it was listed.
        if (stat === null) continue
        if (stat.type !== 'directory' || includeDirs) yield report({ path: value.path, stat })
        if (stat.type === 'directory') enter(value)
      }
    }
  } finally {
    for (const level of levels.reverse()) await level.return?.()
  }
}

/** Yields the entries of one directory with their stats. Skips whatever cannot be read. */
async function* listMerged(
  layers: Layers,
  directory: LayeredEntry,
  ctx?: CallContext,
): AsyncGenerator<LayeredEntry> {
  try {
    for await (const { name } of layers.list(directory, ctx)) {
      const found = await layers.step(directory, child(directory.path, name), ctx).catch(ignoreUnreadable)
      if (found !== undefined) yield found
    }
  } catch (error) {
    ignoreUnreadable(error)
  }
}

/** An abort is no VfsError, and ends the walk. */
function ignoreUnreadable(error: unknown): undefined {
  if (!isVfsError(error)) throw error
}

function rebasePath(path: string, from: string, to: string): string {
  return child(to, relativeTo(path, from) ?? '')
}
