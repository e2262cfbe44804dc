import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningFork, RunningForks } from '../../boundary/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import type { OpenHome } from './home-access.ts'
import { listEnclosingDirectories, listLinkedForkNames } from './linked-access.ts'

/** Names that a message has at most. */
const MAX_LISTED = 10

/**
 * Throws CommandError if a command runs in a fork: for a name that is not stored yet, its first command. Without a name,
 * for any fork of the working directory, or of one around it.
 */
export function assertNotNew(open: OpenHome, fork: string | undefined): void {
  const notice = findNotice(open, fork ?? findNewestRunning(open)?.fork)
  if (notice !== undefined) throw new CommandError(notice)
}

/** Finds the fork of the working directory, or of one around it, in which a command started last. */
function findNewestRunning({ path }: OpenHome): RunningFork | undefined {
  const directories = listEnclosingDirectories()
  return RunningForks.of(path)
    .list()
    .filter(({ directory, session }) => directories.includes(directory) && session !== undefined)
    .sort((one, other) => other.since - one.since)[0]
}

/**
 * Throws for a name that is neither a vault nor, in a directory with forks, one of them: CommandError while its first
 * command runs, ENOENT otherwise. A directory without forks leaves the error to the home.
 */
export async function assertForkOrVault(open: OpenHome, name: string): Promise<void> {
  if ((await open.home.vaults()).includes(name)) return
  assertNotNew(open, name)
  const forks = await listLinkedForkNames(open.home)
  if (forks.length === 0) return
  const detail = `this directory has no fork '${name}'; its forks: ${forks.slice(0, MAX_LISTED).join(', ')}`
  throw new VfsError('ENOENT', name, { op: 'open', detail })
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
function findNotice({ path }: OpenHome, fork: string | undefined): string | undefined {
  const running = fork === undefined ? undefined : RunningForks.of(path).find(fork)
  if (running?.session === undefined) return undefined
  const look = existsSync(join(running.directory, '.git')) ? ' -- git diff' : ''
  return `'${running.command}' runs in ${fork}, which gets its changes when it ends; look at them now with: coppice enter ${fork}${look}`
}
