import { extractTrigrams } from './trigrams.ts'

/** What a file must contain to be worth reading: `anything`, some trigrams, all of several needs, or one of them. */
export type TrigramQuery =
  | 'anything'
  | { readonly trigrams: readonly number[] }
  | { readonly all: readonly TrigramQuery[] }
  | { readonly any: readonly TrigramQuery[] }

/** Which bytes can stand for a character of a pattern. */
export interface CaseFolding {
  readonly ignoreCase: boolean
  /** By Unicode's rules, where two letters outside of ASCII fold into it. */
  readonly unicode: boolean
}

/** A literal as it stands. */
export const exactCase: CaseFolding = { ignoreCase: false, unicode: false }

export function allOf(needs: readonly TrigramQuery[]): TrigramQuery {
  const real = needs.filter((need) => need !== 'anything')
  const [only] = real
  return only === undefined ? 'anything' : real.length === 1 ? only : { all: real }
}

export function anyOf(needs: readonly TrigramQuery[]): TrigramQuery {
  const [only] = needs
  if (only === undefined || needs.includes('anything')) return 'anything'
  return needs.length === 1 ? only : { any: needs }
}

/** What a file must contain for its text to contain this one. */
export function buildTrigramQuery(text: string, folding: CaseFolding): TrigramQuery {
  let piece = ''
  const needs: TrigramQuery[] = []
  const cut = () => {
    const trigrams = extractTrigrams(Buffer.from(piece))
    if (trigrams.length > 0) needs.push({ trigrams })
    piece = ''
  }
  for (const character of text) {
    if (hasOneForm(character, folding)) piece += character
    else cut()
  }
  cut()
  return allOf(needs)
}

/** Whether a character of a line always comes from the same bytes, up to the case of ASCII letters. */
function hasOneForm(character: string, { ignoreCase, unicode }: CaseFolding): boolean {
  // Half a pair may be part of any pair, and U+FFFD stands for whatever is not valid UTF-8.
  if (!character.isWellFormed() || character === '\ufffd') return false
  if (!ignoreCase) return true
  // The Kelvin sign folds to k, the long s to s.
  return character < '\x80' && !(unicode && /[ks]/i.test(character))
}
