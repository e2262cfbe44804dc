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
export function allowedDirectories(paths: readonly string[]): AllowedDirectory[] {
  const found = new Map(paths.map(allowedDirectory).map((directory) => [directory.path, directory]))
  return [...found.values()].filter(({ path }) =>
    found.values().every((other) => other.path === path || !isWithin(path, other.path)),
  )
}

/** Whether another directory is now where this one was; ENOENT if none is. */
export function isReplaced({ path, device, inode }: AllowedDirectory): boolean {
  const now = directoryAt(path)
  return now.dev !== device || now.ino !== inode
}

export function allowedDirectory(given: string): AllowedDirectory {
  const path = realDirectory(given)
  const { dev, ino } = directoryAt(path)
  return { path, device: dev, inode: ino }
}

/** Not asynchronous: an allow-list is read before anything is served, and must not change while it is. */
function realDirectory(given: string): string {
  const path = assertHostPath(given.startsWith('/') ? normalize(given) : given)
  try {
    return realpathSync.native(path)
  } catch (cause) {
    throw gone(path, cause)
  }
}

function directoryAt(path: string): Stats {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw gone(path)
  if (stats.isDirectory()) return stats
  throw new VfsError('ENOTDIR', path, { op: 'allow', detail: 'what is allowed has to be a directory' })
}

function gone(path: string, cause?: unknown): VfsError {
  const detail = 'the allowed directory is not there; make it, or take it from the allow-list'
  return new VfsError('ENOENT', path, { op: 'allow', detail, ...(cause !== undefined && { cause }) })
}
