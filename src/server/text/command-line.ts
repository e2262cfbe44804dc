/** How much of what a command reads is put before a person; how much more there is, is said. */
const MAX_INPUT_CHARACTERS = 2000
/** A word that a shell reads as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/

/** A command as one would type it: of a program and its words, it shows where each begins and ends. */
export function commandLine(
  command: { readonly argv: readonly string[] } | { readonly shell: string },
): string {
  return 'shell' in command ? command.shell : command.argv.map(quoted).join(' ')
}

/** The beginning of what a command reads, for whoever is to let it run. */
export function commandInput(text: string): string {
  const more = text.length - MAX_INPUT_CHARACTERS
  return more > 0 ? `${text.slice(0, MAX_INPUT_CHARACTERS)}… and ${more} characters more` : text
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
