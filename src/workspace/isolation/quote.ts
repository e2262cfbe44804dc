/** A word as a POSIX shell reads it back unchanged. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as one command of a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(quote).join(' ')
}
