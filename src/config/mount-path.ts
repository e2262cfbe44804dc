import { escapeName } from '../text/index.ts'
import { isVfsError, isWithin, strict } from '../vfs/index.ts'

/** Paths of the namespace at which users cannot mount. */
const reservedPaths: readonly string[] = ['/shared', '/home', '/sys', '/workspace', '/proc', '/dev']

/** Returns the reason why a path cannot be a mount point beside the others; undefined if it can. */
export function findMountProblem(path: string, all: readonly string[]): string | undefined {
  const problem = findPathProblem(path)
  if (problem !== undefined) return `'${escapeName(path)}' is not a mount path: ${problem}`
  if (path === '/') return 'the root belongs to the zones; mount below it'
  const reserved = reservedPaths.find((candidate) => isWithin(path, candidate))
  if (reserved !== undefined) {
    return `'${path}' is in ${reserved}; mount outside of ${reservedPaths.join(', ')}`
  }
  // The root contains all of them, and is reported separately.
  const outer = all.find((other) => other !== path && other !== '/' && isWithin(path, other))
  return outer === undefined ? undefined : `'${path}' lies inside the mount '${outer}'; mounts do not nest`
}

function findPathProblem(path: string): string | undefined {
  try {
    strict(path)
    return escapeName(path) === path ? undefined : 'it has unprintable characters'
  } catch (error) {
    if (!isVfsError(error)) throw error
    return error.detail ?? error.message
  }
}
