import { VfsError } from '../error.ts'
import { split } from '../path.ts'

/** Limit of brace alternatives in one pattern. More are a mistake or an attack. */
const MAX_ALTERNATIVES = 10_000

/** A part of a name pattern: a star, or one character that a predicate accepts. */
type Token =
  | { readonly star: true }
  | { readonly star: false; readonly accepts: (character: string) => boolean }

/** A pattern for a whole path: the tokens of each name, or `**` for any number of names. */
export type GlobPattern = readonly (readonly Token[] | '**')[]

export function compileGlob(names: readonly string[]): GlobPattern {
  return names.map((name) => (name === '**' ? name : compileName(name)))
}

/** Reports whether a path matches. A final `**` matches one or more names, any other zero or more. */
export function matchesPattern(pattern: GlobPattern, path: string): boolean {
  const names = split(path)
  const isTrailing = pattern.at(-1) === '**'
  const parts = isTrailing ? [...pattern, compileName('*')] : pattern
  return matchesWildcards(
    parts.length,
    names.length,
    (part) => parts[part] === '**',
    (part, name) => {
      const tokens = parts[part]
      return tokens !== undefined && tokens !== '**' && matchesName(tokens, names[name] ?? '')
    },
  )
}

export function hasWildcard(name: string): boolean {
  return /[*?[]/.test(name)
}

/**
 * Expands `a{b,c}` to `ab` and `ac`. Braces may nest. An unclosed brace, or one without a comma, is a plain character.
 * EINVAL for more than ten thousand alternatives.
 */
export function expandBraces(pattern: string): string[] {
  // A set, because nested braces produce the same alternative in several ways.
  const alternatives = new Set([pattern])
  const expanded: string[] = []
  for (const next of alternatives) {
    const group = next.match(/^(?<before>.*?)\{(?<inside>[^{}]*,[^{}]*)\}(?<after>.*)$/s)?.groups
    if (group === undefined) expanded.push(next)
    const { before = '', inside, after = '' } = group ?? {}
    for (const option of inside?.split(',') ?? []) alternatives.add(before + option + after)
    if (alternatives.size > MAX_ALTERNATIVES) {
      const detail = `the braces of the pattern expand to more than ${MAX_ALTERNATIVES} alternatives; use a shorter list`
      throw new VfsError('EINVAL', pattern, { op: 'glob', detail })
    }
  }
  return expanded
}

function matchesName(tokens: readonly Token[], name: string): boolean {
  const characters = [...name]
  return matchesWildcards(
    tokens.length,
    characters.length,
    (token) => tokens[token]?.star === true,
    (index, character) => {
      const token = tokens[index]
      return token !== undefined && !token.star && token.accepts(characters[character] ?? '')
    },
  )
}

/**
 * Matches a sequence with wildcards in time proportional to the product of both lengths. When it gets stuck, only the
 * last wildcard can help: it takes one more item and continues. A regular expression could backtrack exponentially.
 */
function matchesWildcards(
  patternLength: number,
  length: number,
  isWildcard: (part: number) => boolean,
  accepts: (part: number, item: number) => boolean,
): boolean {
  let part = 0
  let item = 0
  let wildcard = -1
  let taken = 0
  while (item < length) {
    if (part < patternLength && isWildcard(part)) {
      wildcard = part++
      taken = item
    } else if (part < patternLength && accepts(part, item)) {
      part++
      item++
    } else if (wildcard >= 0) {
      part = wildcard + 1
      item = ++taken
    } else return false
  }
  while (part < patternLength && isWildcard(part)) part++
  return part === patternLength
}

function compileName(name: string): Token[] {
  // A set has at least one member, so `[]` and `[!]` are plain characters. A `]` that begins a set is a member.
  const parts = name.match(/\*+|\?|\[(?:!|(?!!))(?:\][^\]]*|[^\]]+)\]|./gsu) ?? []
  return parts.map((part): Token => {
    if (part.startsWith('*')) return { star: true }
    if (part === '?') return { star: false, accepts: () => true }
    if (part.length > 1 && part.startsWith('['))
      return { star: false, accepts: compileSet(part.slice(1, -1)) }
    return { star: false, accepts: (character) => character === part }
  })
}

/**
 * Compiles a set such as `a-z_`. A leading `!` negates it; a hyphen at either end stands for itself.
 * EINVAL for an empty range.
 */
function compileSet(set: string): (character: string) => boolean {
  const isNegated = set.startsWith('!')
  const members = [...(isNegated ? set.slice(1) : set)]
  const ranges: (readonly [string, string])[] = []
  for (let index = 0; index < members.length; index++) {
    const [first, hyphen, last] = [members[index] ?? '', members[index + 1], members[index + 2]]
    const isRange = hyphen === '-' && last !== undefined
    if (isRange && last < first) {
      throw new VfsError('EINVAL', `[${set}]`, {
        op: 'glob',
        detail: `the range ${first}-${last} is empty; write ${last}-${first}`,
      })
    }
    ranges.push([first, isRange ? last : first])
    if (isRange) index += 2
  }
  return (character) => ranges.some(([first, last]) => first <= character && character <= last) !== isNegated
}
