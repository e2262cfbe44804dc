/** Stands in a word for whatever is only known when it runs. No word of a shell can hold it. */
export const UNKNOWN = '\0'

/** Whether all of a word is known. */
export function isLiteral(word: string): boolean {
  return !word.includes(UNKNOWN)
}
