/** Placeholder in a word for text that is only known at run time. No word of a shell can hold it. */
export const UNKNOWN = '\0'

/** True if all of a word is known. */
export function isLiteral(word: string): boolean {
  return !word.includes(UNKNOWN)
}
