import { extractTrigrams } from './trigrams.ts'

/** Condition for a file to be a candidate: `anything`, some trigrams, all of several queries, or one of them. */
export type TrigramQuery =
  | 'anything'
  | { readonly trigrams: readonly number[] }
  | { readonly all: readonly TrigramQuery[] }
  | { readonly any: readonly TrigramQuery[] }

/** Case rules of a pattern's characters. */
export interface CaseFolding {
  readonly ignoreCase: boolean
  /** True for Unicode's rules, which fold two letters outside ASCII into it. */
  readonly unicode: boolean
}

/** Case-sensitive matching. */
export const exactCase: CaseFolding = { ignoreCase: false, unicode: false }

export function allOf(queries: readonly TrigramQuery[]): TrigramQuery {
  const real = queries.filter((query) => query !== 'anything')
  const [only] = real
  return only === undefined ? 'anything' : real.length === 1 ? only : { all: real }
}

export function anyOf(queries: readonly TrigramQuery[]): TrigramQuery {
  const [only] = queries
  if (only === undefined || queries.includes('anything')) return 'anything'
  return queries.length === 1 ? only : { any: queries }
}

/** Builds the query for files that contain a text. */
export function buildTrigramQuery(text: string, folding: CaseFolding): TrigramQuery {
  let piece = ''
  const queries: TrigramQuery[] = []
  const cut = () => {
    const trigrams = extractTrigrams(Buffer.from(piece))
    if (trigrams.length > 0) queries.push({ trigrams })
    piece = ''
  }
  for (const character of text) {
    if (hasOneForm(character, folding)) piece += character
    else cut()
  }
  cut()
  return allOf(queries)
}

/** Reports whether a character always has the same bytes, up to the case of ASCII letters. */
function hasOneForm(character: string, { ignoreCase, unicode }: CaseFolding): boolean {
  // A lone surrogate may be part of any pair, and U+FFFD stands for any invalid UTF-8.
  if (!character.isWellFormed() || character === '\ufffd') return false
  if (!ignoreCase) return true
  // The Kelvin sign folds to k, the long s to s.
  return character < '\x80' && !(unicode && /[ks]/i.test(character))
}
