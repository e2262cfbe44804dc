import type { WorkspaceCommand } from '../../tools/index.ts'
import { escapedText } from '../text/index.ts'

/** How much of a command's input is put before a person; how much more there is, is said. */
const MAX_INPUT_CHARACTERS = 2000
/** A word that a shell reads as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/

/**
 * What a person is asked before a command runs: why it is asked, and what makes it this command and no other. Nothing
 * in it can steer a terminal or hide what comes before it.
 */
export function commandQuestion(
  { command, cwd, stdin }: WorkspaceCommand,
  reason: string = 'it needs an approval',
): string {
  const line = 'shell' in command ? command.shell : command.argv.map(quoted).join(' ')
  const place = cwd === '/' ? '' : ` in ${cwd}`
  const input = stdin === undefined ? '' : `\n\nIt reads:\n\n${beginning(stdin)}`
  return visible(`${reason}. Let this run once${place}?\n\n${line}${input}`)
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function beginning(text: string): string {
  const more = text.length - MAX_INPUT_CHARACTERS
  return more > 0 ? `${text.slice(0, MAX_INPUT_CHARACTERS)}… and ${more} characters more` : text
}

function visible(text: string): string {
  return escapedText(text.replaceAll('\r', '\\r')).toWellFormed()
}
