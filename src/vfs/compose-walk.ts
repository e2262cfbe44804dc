import { isVfsError } from './error.ts'
import type { CallContext, DirEntry, FileSystem, WalkEntry, WalkOptions } from './file-system.ts'
import { child } from './path.ts'

/** The parts of a file system a walk can be composed from. */
type Walkable = Pick<FileSystem, 'readdir' | 'stat'>

/**
 * Walks depth first with `readdir` and `stat`, lazily, in the order of `readdir`. One directory is open per level, so
 * the walk can be left early on infinite trees and needs no recursion on deep ones.
 */
export async function* composeWalk(
  fs: Walkable,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions = {},
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  if (maxDepth < 1) return
  const open: { path: string; entries: AsyncIterator<DirEntry> }[] = []
  const enter = (path: string) => open.push({ path, entries: fs.readdir(path, ctx)[Symbol.asyncIterator]() })
  enter(root)
  try {
    for (let level = open.at(-1); level; level = open.at(-1)) {
      const entry = await skipUnreadable(level.entries.next())
      if (entry === undefined || entry.done) {
        open.pop()
        continue
      }
      const path = child(level.path, entry.value.name)
      const stat = await skipUnreadable(fs.stat(path, ctx))
      if (stat === undefined) continue
      const isDirectory = stat.type === 'directory'
      if (!isDirectory || includeDirs) yield { path, stat }
      if (isDirectory && open.length < maxDepth) enter(path)
    }
  } finally {
    for (const { entries } of open.reverse()) await entries.return?.()
  }
}

/**
 * Returns undefined if a step fails with a VfsError: the path was removed meanwhile, is not permitted or cannot be read.
 * Other errors, such as an abort, end the walk.
 */
async function skipUnreadable<T>(step: Promise<T>): Promise<T | undefined> {
  try {
    return await step
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}
