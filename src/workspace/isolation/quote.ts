/** Quotes a word for a POSIX shell. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Formats words as a shell command. */
export function formatCommandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}
