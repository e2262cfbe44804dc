/** A word that a shell reads as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/

/** A command as one would type it: of a program and its words, it shows where each begins and ends. */
export function commandLine(
  command: { readonly argv: readonly string[] } | { readonly shell: string },
): string {
  return 'shell' in command ? command.shell : command.argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
