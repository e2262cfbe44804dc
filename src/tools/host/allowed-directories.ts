import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { isWithin, normalize, VfsError } from '../../vfs/index.ts'
import { assertHostPath } from './host-path.ts'

/** An allowed directory by its real path, and its identity when it was allowed. */
export interface AllowedDirectory {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/**
 * Resolves the directories of an allow-list: absolute paths of existing directories, links included. EINVAL, ENOENT
 * or ENOTDIR for anything else. One inside another is left out, so that a writer of the outer one
 * cannot replace it.
 */
export function resolveAllowedDirectories(paths: readonly string[]): AllowedDirectory[] {
  const found = new Map(paths.map(resolveAllowedDirectory).map((directory) => [directory.path, directory]))
  return [...found.values()].filter(({ path }) =>
    found.values().every((other) => other.path === path || !isWithin(path, other.path)),
  )
}

/** True if another directory now has this path; ENOENT if there is nothing, ENOTDIR if it is no directory. */
export function isReplaced({ path, device, inode }: AllowedDirectory): boolean {
  const current = statDirectory(path)
  return current.dev !== device || current.ino !== inode
}

export function resolveAllowedDirectory(given: string): AllowedDirectory {
  const path = resolveRealDirectory(given)
  const { dev, ino } = statDirectory(path)
  return { path, device: dev, inode: ino }
}

/**
 * Returns the real path of a directory. Synchronous, because an allow-list is read before anything is served and must
 * not change meanwhile.
 */
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
  throw new VfsError('ENOTDIR', path, { op: 'allow', detail: 'an allowed path must be a directory' })
}

function createMissingDirectoryError(path: string, cause?: unknown): VfsError {
  const detail = 'the allowed directory does not exist; create it, or remove it from the allow-list'
  return new VfsError('ENOENT', path, { op: 'allow', detail, ...(cause !== undefined && { cause }) })
}
