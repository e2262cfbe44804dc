/** A word that a shell reads as it stands. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/

/** A command as one would type it: of a program and its words, it shows where each begins and ends. */
export function formatCommandLine(
  command: { readonly argv: readonly string[] } | { readonly shell: string },
): string {
  return 'shell' in command ? command.shell : command.argv.map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
