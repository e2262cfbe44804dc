import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { matchesWildcard, type TreeChange } from '../../../workspace/index.ts'
import { CommandError } from '../../framework/errors.ts'

const WILDCARD = /[*?]/
const EXCLUSION = /^:[!^]/

/**
 * Returns the changed paths that words of the command line select, at or below the path of a word. `:!path` excludes.
 * CommandError if a word that does not exclude selects nothing, or if no path is left.
 */
export function selectPaths(
  directory: string,
  words: readonly string[],
  changes: readonly TreeChange[],
): string[] {
  const paths = changes.map(({ path }) => path)
  const included = words.filter((word) => !EXCLUSION.test(word))
  const excluded = new Set(
    words
      .filter((word) => EXCLUSION.test(word))
      .flatMap((word) => matchPaths(toTreePath(directory, word.slice(2)), paths)),
  )
  const chosen = included.length === 0 ? paths : included.flatMap((word) => matchWord(directory, word, paths))
  const selected = [...new Set(chosen)].filter((path) => !excluded.has(path))
  if (selected.length > 0) return selected
  throw new CommandError('nothing was written: the paths leave nothing to apply; see coppice diff --stat')
}

function matchWord(directory: string, word: string, paths: readonly string[]): string[] {
  const found = matchPaths(toTreePath(directory, word), paths)
  if (found.length > 0) return found
  throw new CommandError(
    `nothing was written: the fork has no change at '${word}'; list its changes with: coppice diff --stat`,
  )
}

/** Lists the paths at or below a path, or those that match it as a pattern. */
function matchPaths(chosen: string, paths: readonly string[]): string[] {
  const below = paths.filter((path) => chosen === '/' || path === chosen || path.startsWith(`${chosen}/`))
  return below.length > 0 || !WILDCARD.test(chosen)
    ? below
    : paths.filter((path) => matchesWildcard(chosen, path))
}

/**
 * Converts a word of the command line to a path of the linked directory. A relative word starts at the working
 * directory. An absolute one is a path of this machine if it is in the linked directory, and otherwise starts at that
 * directory. CommandError for a relative word that leads outside.
 */
export function toTreePath(directory: string, word: string): string {
  const hostPath = resolve(realpathSync(process.cwd()), word)
  const relativePath = relative(directory, hostPath)
  const isInside = relativePath !== '..' && !relativePath.startsWith('../')
  if (isInside) return relativePath === '' ? '/' : `/${relativePath}`
  // Messages name paths of the fork in this form.
  if (isAbsolute(word)) return resolve(word)
  throw new CommandError(`'${word}' is outside of ${join(directory, '/')}; name a path inside`)
}
