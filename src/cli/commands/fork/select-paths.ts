import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { matchesWildcard } from '../../../workspace/index.ts'
import { CommandError } from '../../framework/errors.ts'
import { quoteShellWord } from '../../render/shell-word.ts'

/** Characters that no fork has in its name, but paths have. */
const NO_NAME = /[^\w-]/
const WILDCARD = /[*?]/
const EXCLUSION = /^:[!^]/

/** Words of the command line that select changes. */
export interface PathWords {
  readonly words: readonly string[]
  /** Converts a word to a path as changes have it. */
  toPath(word: string): string
  /** The fork that messages name; none for a vault. */
  readonly fork?: string | undefined
  /** Text before the message if nothing is selected, such as `nothing was written: `. */
  readonly messagePrefix?: string
}

/**
 * Returns the changed paths that words select, at or below the path of a word. `:!path` excludes. CommandError if a word
 * that does not exclude selects nothing, or if no path is left.
 */
export function selectPaths(
  changes: readonly { readonly path: string }[],
  { words, toPath, fork, messagePrefix = '' }: PathWords,
): string[] {
  const list = `coppice diff ${fork === undefined ? '' : `${fork} `}--stat`
  const paths = changes.map(({ path }) => path)
  const included = words.filter((word) => !EXCLUSION.test(word))
  const excluded = new Set(
    words.filter((word) => EXCLUSION.test(word)).flatMap((word) => matchPaths(toPath(word.slice(2)), paths)),
  )
  const chosen = included.length === 0 ? paths : included.flatMap(matchWord)
  const selected = [...new Set(chosen)].filter((path) => !excluded.has(path))
  if (selected.length > 0) return selected
  throw new CommandError(`${messagePrefix}the paths leave no change; see ${list}`)

  function matchWord(word: string): string[] {
    const found = matchPaths(toPath(word), paths)
    if (found.length > 0) return found
    throw new CommandError(`${messagePrefix}there is no change at '${word}'; list the changes with: ${list}`)
  }
}

/** Says how to name a path, for a word in place of a fork that is one; undefined for any other. */
export function findPathHint(word: string, command: readonly string[]): string | undefined {
  if (!existsSync(word) && !NO_NAME.test(word)) return undefined
  return `paths come after --: coppice ${command.join(' ')} -- ${quoteShellWord(word)}`
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
