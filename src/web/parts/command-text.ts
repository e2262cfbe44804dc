import type { WebApproval } from '../../web-api/index.ts'

/** Formats a command as a person would type it: arguments with other characters are quoted. */
export function formatCommand(command: WebApproval['command']): string {
  if ('shell' in command) return command.shell
  return command.argv.map(quoteArgument).join(' ')
}

function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
