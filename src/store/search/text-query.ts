import { VfsError } from '../../vfs/index.ts'
import { allOf, buildTrigramQuery, type TrigramQuery } from './trigram-query.ts'

/**
 * A run of letters, marks and digits; in scripts without spaces, each character is a word. So a query in such a
 * script is a phrase, as is one with a dot or underscore in it.
 */
const WORD_PATTERN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]]+/gv
/** A term of a query: optionally excluded, a quoted phrase or a bare term, optionally with a star. */
const TERM_PATTERN = /(-?)(?:"([^"]*)"?|([^\s"]+))/g

/** Consecutive words; the last one may be a prefix. */
export interface Phrase {
  readonly words: readonly string[]
  readonly isPrefix: boolean
}

/** A parsed full-text query: required and excluded phrases. */
export interface TextQuery {
  readonly phrases: readonly Phrase[]
  readonly excluded: readonly Phrase[]
}

/** A word of a text, case-folded, and its offset. */
export interface TextWord {
  readonly text: string
  readonly offset: number
}

/** Parses `word`, `pre*`, `"a phrase"`, `-without`. Throws EINVAL if there is nothing to search for. */
export function parseTextQuery(query: string): TextQuery {
  const phrases: Phrase[] = []
  const excluded: Phrase[] = []
  for (const [, minus, quoted, bare = ''] of query.matchAll(TERM_PATTERN)) {
    const words = splitWords(quoted ?? bare).map(({ text }) => text)
    if (words.length === 0) continue
    const phrase = { words, isPrefix: quoted === undefined && bare.endsWith('*') }
    if (minus === '-') excluded.push(phrase)
    else phrases.push(phrase)
  }
  if (phrases.length > 0) return { phrases, excluded }
  throw new VfsError('EINVAL', query, { op: 'search', detail: 'the query has no word to look for' })
}

export function splitWords(text: string): TextWord[] {
  return Array.from(text.matchAll(WORD_PATTERN), ({ 0: word, index }) => ({
    text: word.toLowerCase(),
    offset: index,
  }))
}

/** Builds the query for files that may match. */
export function buildTextQuery({ phrases }: TextQuery): TrigramQuery {
  return allOf(
    phrases.flatMap(({ words, isPrefix }) =>
      words.map((word, index) => buildWordQuery(word, isPrefix && index === words.length - 1)),
    ),
  )
}

function buildWordQuery(word: string, isPrefix: boolean): TrigramQuery {
  // Beyond ASCII, the cases of a letter have different bytes. A capital I with a dot becomes an i and a mark.
  if (!/^[\0-\x7f]*$/.test(word)) return 'anything'
  return buildTrigramQuery(isPrefix ? word.replace(/i$/, '') : word, { ignoreCase: true, unicode: true })
}
