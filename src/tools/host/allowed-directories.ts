import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { isWithin, normalize, VfsError } from '../../vfs/index.ts'
import { assertHostPath } from './host-path.ts'

/** An allowed directory by its real path, and which one it was when it was allowed. */
export interface AllowedDirectory {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/**
 * The directories of an allow-list: absolute paths of directories that exist, links to them included. EINVAL, ENOENT
 * or ENOTDIR for anything else. One inside another adds nothing and is left out, so that nobody who may write the
 * outer one could put something else in its place.
 */
export function resolveAllowedDirectories(paths: readonly string[]): AllowedDirectory[] {
  const found = new Map(paths.map(resolveAllowedDirectory).map((directory) => [directory.path, directory]))
  return [...found.values()].filter(({ path }) =>
    found.values().every((other) => other.path === path || !isWithin(path, other.path)),
  )
}

/** Whether another directory is now where this one was; ENOENT if none is. */
export function isReplaced({ path, device, inode }: AllowedDirectory): boolean {
  const now = statDirectory(path)
  return now.dev !== device || now.ino !== inode
}

export function resolveAllowedDirectory(given: string): AllowedDirectory {
  const path = resolveRealDirectory(given)
  const { dev, ino } = statDirectory(path)
  return { path, device: dev, inode: ino }
}

/** Not asynchronous: an allow-list is read before anything is served, and must not change while it is. */
function resolveRealDirectory(given: string): string {
  const path = assertHostPath(given.startsWith('/') ? normalize(given) : given)
  try {
    return realpathSync.native(path)
  } catch (cause) {
    throw createMissingDirectoryError(path, cause)
  }
}

function statDirectory(path: string): Stats {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw createMissingDirectoryError(path)
  if (stats.isDirectory()) return stats
  throw new VfsError('ENOTDIR', path, { op: 'allow', detail: 'what is allowed has to be a directory' })
}

function createMissingDirectoryError(path: string, cause?: unknown): VfsError {
  const detail = 'the allowed directory is not there; make it, or take it from the allow-list'
  return new VfsError('ENOENT', path, { op: 'allow', detail, ...(cause !== undefined && { cause }) })
}
