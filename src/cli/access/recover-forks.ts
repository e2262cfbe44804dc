import type { Home } from '../../backends/vault/index.ts'
import { type RecoveredFork, recoverMountedForks, recoverSessions } from '../../workspace/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { formatErrorLine } from '../framework/errors.ts'

/** Stores the changes of mounted forks whose process was killed, and prints what became of them. */
export async function recoverMounts(call: CommandInvocation, home: Home, mounts: string): Promise<void> {
  printRecovered(call, await recoverMountedForks(home, mounts), { subject: 'a mount', place: mounts })
}

/** Stores the changes of commands whose process was killed, and prints what became of them. */
export async function recoverCommands(call: CommandInvocation, home: Home, path: string): Promise<void> {
  printRecovered(call, await recoverSessions(home, path), { subject: 'a command', place: `${path}/sessions` })
}

/** Prints outcomes. The command may have nothing to do with these forks, so it goes on in any case. */
function printRecovered(
  { terminal }: CommandInvocation,
  recovered: readonly RecoveredFork[],
  { subject, place }: { readonly subject: string; readonly place: string },
): void {
  for (const { fork, changes, problem } of recovered) {
    const killed = `${subject} of ${fork} was killed`
    if (problem !== undefined)
      terminal.err.write(
        formatErrorLine(`${killed}, and its changes cannot be stored: ${problem}; they stay in ${place}`),
      )
    else if (changes > 0) terminal.err.write(formatErrorLine(`${killed}; the fork has its changes now`))
  }
}
