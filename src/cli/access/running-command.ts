import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RunningForks } from '../../boundary/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import type { OpenHome } from './home-access.ts'

/**
 * Throws CommandError if a command runs in a fork. For a name that is not stored yet: its first command still runs.
 */
export function assertNotNew(open: OpenHome, fork: string | undefined): void {
  const notice = fork === undefined ? undefined : findNotice(open, fork)
  if (notice !== undefined) throw new CommandError(notice)
}

/** Prints for each fork in which a command runs that its changes are still to come. */
export function printRunningCommands(
  call: CommandInvocation,
  open: OpenHome,
  forks: readonly string[],
): void {
  if (call.isJson) return
  for (const fork of forks) {
    const notice = findNotice(open, fork)
    if (notice !== undefined) call.terminal.err.write(formatErrorLine(notice))
  }
}

/**
 * Returns a notice about the command that runs in a fork, which keeps its changes in a session until it ends;
 * undefined if none runs.
 */
function findNotice({ path }: OpenHome, fork: string): string | undefined {
  const running = RunningForks.of(path).find(fork)
  if (running?.session === undefined) return undefined
  const look = existsSync(join(running.directory, '.git')) ? ' -- git diff' : ''
  return `'${running.command}' runs in ${fork}, which gets its changes when it ends; look at them now with: coppice enter ${fork}${look}`
}
