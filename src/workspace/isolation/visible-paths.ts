import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isWithin, VfsError } from '../../vfs/index.ts'

/** Access modes of a visible path: no changes, changes of the command's own, changes of the real file. */
export const visibilityModes = ['read', 'copy', 'share'] as const

/** A path of the user's home that a command sees although isolation would hide it. */
export interface VisiblePath {
  /** Absolute path below the user's home. It may be missing. */
  readonly path: string
  readonly mode: (typeof visibilityModes)[number]
  /** True if a missing path is to be a directory. */
  readonly isDirectory: boolean
}

/** A visible path on this machine: the path is real, and its type is that of an existing entry. */
export interface ResolvedPath extends VisiblePath {
  readonly exists: boolean
}

/**
 * Resolves visible paths below the real home directory, parents first. Throws EINVAL for a path that is not below the
 * home, that a link leads out of it, or that leads into one of the closed directories.
 */
export function resolveVisiblePaths(
  visible: readonly VisiblePath[],
  home: string,
  closed: readonly string[],
): ResolvedPath[] {
  const resolved = visible.map((each) => {
    const problem = findVisibilityProblem(each.path, home, closed)
    if (problem !== undefined)
      throw new VfsError('EINVAL', each.path, {
        op: 'exec',
        detail: `${problem}; remove it from the profile`,
      })
    const path = resolveEntry(each.path)
    const exists = existsSync(path)
    return { ...each, path, exists, isDirectory: exists ? statSync(path).isDirectory() : each.isDirectory }
  })
  // The last of several rules for one path wins.
  const byPath = new Map(resolved.map((each) => [each.path, each]))
  return [...byPath.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Returns the hidden paths that stay hidden as a whole, and those of which a visible path shows a part. */
export function splitHiddenPaths<Hidden extends { readonly path: string }>(
  hidden: readonly Hidden[],
  visible: readonly ResolvedPath[],
): { readonly whole: Hidden[]; readonly opened: Hidden[] } {
  const remaining = hidden.filter(({ path }) => !visible.some((each) => each.path === path))
  const opened = remaining.filter(({ path }) => visible.some((each) => isWithin(each.path, path)))
  /** True if an opened directory leaves the path out anyway. */
  const isLeftOut = ({ path }: Hidden) =>
    opened.some((around) => {
      const isShown = visible.some((each) => isWithin(each.path, around.path) && isWithin(path, each.path))
      return isWithin(path, around.path) && !isShown
    })
  return { whole: remaining.filter((each) => !opened.includes(each) && !isLeftOut(each)), opened }
}

/** Resolves the links of a path; of a missing one, those of its nearest existing parent. */
function resolveEntry(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveEntry(parent), basename(path))
  }
}

/**
 * Returns why a path cannot be made visible: it is not below the home, a link leads it out of there, or it is in one of
 * the closed directories. Undefined if it can.
 */
export function findVisibilityProblem(
  asked: string,
  home: string,
  closed: readonly string[],
): string | undefined {
  const path = resolveEntry(asked)
  if (path === home || !isWithin(path, home)) {
    const where = path === asked ? 'is not inside' : `leads to ${path}, which is not inside`
    return `${asked} ${where} the home directory ${home}`
  }
  const within = closed.find((directory) => isWithin(path, resolveEntry(directory)))
  return within === undefined ? undefined : `${asked} is in ${within}, which commands never see`
}
