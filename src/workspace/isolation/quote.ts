/** A word as a POSIX shell reads it back unchanged. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as one command of a shell. */
export function formatCommandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}
