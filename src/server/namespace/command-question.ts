import type { WorkspaceCommand } from '../../tools/index.ts'
import { commandInput, commandLine, escapedText } from '../text/index.ts'

/**
 * What a person is asked before a command runs: why it is asked, and what makes it this command and no other. Nothing
 * in it can steer a terminal or hide what comes before it.
 */
export function commandQuestion(
  { command, cwd, stdin }: WorkspaceCommand,
  reason: string = 'it needs an approval',
): string {
  const place = cwd === '/' ? '' : ` in ${cwd}`
  const input = stdin === undefined ? '' : `\n\nIt reads:\n\n${commandInput(stdin)}`
  return visible(`${reason}. Let this run once${place}?\n\n${commandLine(command)}${input}`)
}

function visible(text: string): string {
  return escapedText(text.replaceAll('\r', '\\r')).toWellFormed()
}
