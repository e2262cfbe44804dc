import { isVfsError } from '../error.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import type { SyncFileSystem, SyncStat } from '../sync-file-system.ts'

/** Reports whether an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}

/**
 * Returns the stat of a path, or null if it does not exist. Calls `exists` first: most paths are missing, and an error
 * costs more.
 */
export async function statIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<Stat | null> {
  if (!(await fs.exists(path, ctx))) return null
  try {
    return await fs.stat(path, ctx)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** The synchronous form of `statIfPresent`. */
export function statIfPresentSync(sync: SyncFileSystem, path: string, ctx?: CallContext): SyncStat | null {
  try {
    return sync.stat(path, ctx)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
