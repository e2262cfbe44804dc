import { escapeName } from '../../text/index.ts'

const PLAIN_WORD = /^[\w@%+=:,./-]+$/

/** Formats a word so that it can be typed into a shell. */
export function quoteShellWord(word: string): string {
  if (PLAIN_WORD.test(word)) return word
  const escaped = escapeName(word)
  // A name with invisible characters is in double quotes, with the escapes of $'…'.
  if (escaped !== word) return `$'${escaped.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}
