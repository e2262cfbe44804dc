import type { Home } from '../../backends/vault/index.ts'
import { type RecoveredFork, recoverMountedForks, recoverSessions } from '../../workspace/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { formatErrorLine } from '../framework/errors.ts'
import { formatLeftOut } from '../render/left-out.ts'

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
  for (const outcome of recovered) {
    const [first, ...others] = formatRecovered(outcome, place)
    if (first === undefined) continue
    for (const line of [`${subject} of ${outcome.fork} was killed${first}`, ...others])
      terminal.err.write(formatErrorLine(line))
  }
}

/** Formats an outcome, without its subject; no lines if nothing was changed. */
function formatRecovered(
  { changes, leftOut = [], checkpoint, problem }: RecoveredFork,
  place: string,
): string[] {
  if (problem !== undefined)
    return [
      `, and its changes cannot be stored: ${problem}; they stay in ${place}, until coppice gc --keep-left 0h deletes them`,
    ]
  if (changes === 0 && leftOut.length === 0) return []
  const replaced =
    checkpoint === undefined
      ? ''
      : `; what others changed in the same places is in the checkpoint ${checkpoint}`
  return [
    `; the fork has ${changes === 0 ? 'none of its changes' : 'its changes now'}${replaced}`,
    ...formatLeftOut(leftOut),
  ]
}
